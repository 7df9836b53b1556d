package awstest

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"time"
)

// dynamodb carries out one operation of DynamoDB.
func (b *Backend) dynamodb(op string, c *Call) (any, error) {
	switch op {
	case "CreateTable":
		return b.createTable(c)
	case "DescribeTable":
		return b.describeTable(c)
	case "UpdateTable":
		return b.updateTable(c)
	case "DeleteTable":
		return b.deleteTable(c)
	case "ListTables":
		return b.listTables(c)
	case "UpdateTimeToLive":
		return b.updateTimeToLive(c)
	case "DescribeTimeToLive":
		return b.describeTimeToLive(c)
	case "UpdateContinuousBackups":
		return b.updateContinuousBackups(c)
	case "DescribeContinuousBackups":
		return b.describeContinuousBackups(c)
	case "PutItem":
		return b.putItem(c)
	case "GetItem":
		return b.getItem(c)
	case "UpdateItem":
		return b.updateItem(c)
	case "DeleteItem":
		return b.deleteItem(c)
	case "BatchGetItem":
		return b.batchGetItem(c)
	case "BatchWriteItem":
		return b.batchWriteItem(c)
	case "Query":
		return b.query(c)
	case "Scan":
		return b.scan(c)
	case "TransactWriteItems":
		return b.transactWriteItems(c)
	}
	return nil, unknown(c)
}

type attributeDefinition struct{ AttributeName, AttributeType string }

type keyElement struct{ AttributeName, KeyType string }

type indexDefinition struct {
	IndexName  string
	KeySchema  []keyElement
	Projection struct {
		ProjectionType   string
		NonKeyAttributes []string `json:",omitempty"`
	}
}

type createTable struct {
	TableName              string
	AttributeDefinitions   []attributeDefinition
	KeySchema              []keyElement
	GlobalSecondaryIndexes []indexDefinition `json:",omitempty"`
	BillingMode            string
	// DeletionProtectionEnabled makes DeleteTable fail.
	DeletionProtectionEnabled bool `json:",omitempty"`
	// What follows has no effect.
	SSESpecification      any `json:",omitempty"`
	Tags                  any `json:",omitempty"`
	TableClass            any `json:",omitempty"`
	WarmThroughput        any `json:",omitempty"`
	ProvisionedThroughput any `json:",omitempty"`
}

func arnOf(name string) string {
	return "arn:aws:dynamodb:" + Region + ":" + Account + ":table/" + name
}

var tableName = regexp.MustCompile(`^[A-Za-z0-9_.-]{3,255}$`)

// schema reads a key schema.
func (in createTable) schema(elements []keyElement, used map[string]bool) (keySchema, *Error) {
	var s keySchema
	for i, e := range elements {
		at := slices.IndexFunc(in.AttributeDefinitions, func(d attributeDefinition) bool { return d.AttributeName == e.AttributeName })
		if at < 0 {
			return s, validation("One or more parameter values were invalid: Some index key attributes are not defined in AttributeDefinitions. Keys: [%s]", e.AttributeName)
		}
		used[e.AttributeName] = true
		a := keyAttribute{e.AttributeName, in.AttributeDefinitions[at].AttributeType}
		if !slices.Contains([]string{"S", "N", "B"}, a.kind) {
			return s, validation("Member must satisfy enum value set: [B, N, S]: %s", a.kind)
		}
		switch {
		case i == 0 && e.KeyType == "HASH":
			s.hash = a
		case i == 1 && e.KeyType == "RANGE":
			s.rng = a
		default:
			return s, validation("Invalid KeySchema: element %d is of type %s", i, e.KeyType)
		}
	}
	if len(elements) == 0 {
		return s, validation("Invalid KeySchema: at least 1 element wanted")
	}
	return s, nil
}

func (b *Backend) createTable(c *Call) (any, error) {
	in, err := decode[createTable](c)
	if err != nil {
		return nil, err
	}
	if !tableName.MatchString(in.TableName) {
		return nil, validation("TableName must be at least 3 characters long and at most 255 characters long, of a-z, A-Z, 0-9, _, - and .")
	}
	if b.tables[in.TableName] != nil {
		return nil, &Error{Status: http.StatusBadRequest, Code: "ResourceInUseException", Message: "Table already exists: " + in.TableName}
	}
	if in.BillingMode != "PAY_PER_REQUEST" && in.ProvisionedThroughput == nil {
		return nil, validation("One or more parameter values were invalid: ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED")
	}
	used := map[string]bool{}
	t := &table{name: in.TableName, created: b.now(), definition: in, indexes: map[string]*index{}}
	var bad *Error
	if t.schema, bad = in.schema(in.KeySchema, used); bad != nil {
		return nil, bad
	}
	for _, d := range in.GlobalSecondaryIndexes {
		if !tableName.MatchString(d.IndexName) || t.indexes[d.IndexName] != nil {
			return nil, validation("One or more parameter values were invalid: index name %q", d.IndexName)
		}
		if d.Projection.ProjectionType != "ALL" {
			return nil, &Error{Status: http.StatusNotImplemented, Code: "NotImplemented", Message: "awstest knows indexes with the projection ALL only"}
		}
		x := &index{}
		if x.schema, bad = in.schema(d.KeySchema, used); bad != nil {
			return nil, bad
		}
		t.indexes[d.IndexName] = x
	}
	if len(used) != len(in.AttributeDefinitions) {
		return nil, validation("One or more parameter values were invalid: Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions")
	}
	b.tables[t.name] = t
	return map[string]any{"TableDescription": t.describe()}, nil
}

// describe is what DescribeTable tells. A table is active at once.
func (t *table) describe() map[string]any {
	count, size := 0, 0
	for _, p := range t.rows.order {
		for _, e := range p.rows {
			if e.row.item != nil {
				count++
				size += e.row.size
			}
		}
	}
	d := map[string]any{
		"TableName": t.name, "TableArn": arnOf(t.name), "TableStatus": "ACTIVE", "KeySchema": t.definition.KeySchema,
		"AttributeDefinitions": t.definition.AttributeDefinitions, "CreationDateTime": epoch(t.created),
		"DeletionProtectionEnabled": t.definition.DeletionProtectionEnabled, "ItemCount": count, "TableSizeBytes": size,
		"BillingModeSummary": map[string]string{"BillingMode": t.definition.BillingMode},
	}
	var indexes []map[string]any
	for _, x := range t.definition.GlobalSecondaryIndexes {
		indexes = append(indexes, map[string]any{
			"IndexName": x.IndexName, "IndexArn": arnOf(t.name) + "/index/" + x.IndexName, "IndexStatus": "ACTIVE",
			"KeySchema": x.KeySchema, "Projection": x.Projection,
		})
	}
	if indexes != nil {
		d["GlobalSecondaryIndexes"] = indexes
	}
	return d
}

// epoch is how the protocol writes a time.
func epoch(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// tableOf finds a table by its name or ARN.
func (b *Backend) tableOf(name string) (*table, *Error) {
	if name == "" {
		return nil, validation("Value null at 'tableName' failed to satisfy constraint: Member must not be null")
	}
	if t := b.tables[name]; t != nil {
		return t, nil
	}
	return nil, &Error{
		Status: http.StatusBadRequest, Code: "ResourceNotFoundException",
		Message: "Requested resource not found: Table: " + name + " not found",
	}
}

type tableRequest struct{ TableName string }

// named reads a request that names a table and nothing else.
func (b *Backend) named(c *Call) (*table, error) {
	in, err := decode[tableRequest](c)
	if err != nil {
		return nil, err
	}
	t, bad := b.tableOf(in.TableName)
	if bad != nil {
		return nil, bad
	}
	return t, nil
}

func (b *Backend) describeTable(c *Call) (any, error) {
	t, err := b.named(c)
	if err != nil {
		return nil, err
	}
	return map[string]any{"Table": t.describe()}, nil
}

// updateTable knows deletion protection and new indexes.
func (b *Backend) updateTable(c *Call) (any, error) {
	in, err := decode[struct {
		tableRequest
		DeletionProtectionEnabled   *bool
		AttributeDefinitions        []attributeDefinition
		GlobalSecondaryIndexUpdates []struct{ Create *indexDefinition }
	}](c)
	if err != nil {
		return nil, err
	}
	t, bad := b.tableOf(in.TableName)
	if bad != nil {
		return nil, bad
	}
	if in.DeletionProtectionEnabled != nil {
		t.definition.DeletionProtectionEnabled = *in.DeletionProtectionEnabled
	}
	for _, u := range in.GlobalSecondaryIndexUpdates {
		if u.Create == nil {
			return nil, unknown(c)
		}
		if bad := t.addIndex(*u.Create, in.AttributeDefinitions); bad != nil {
			return nil, bad
		}
	}
	return map[string]any{"TableDescription": t.describe()}, nil
}

// addIndex makes an index of the rows that there are.
func (t *table) addIndex(d indexDefinition, definitions []attributeDefinition) *Error {
	def := t.definition
	def.AttributeDefinitions = definitions
	if t.indexes[d.IndexName] != nil || d.Projection.ProjectionType != "ALL" {
		return validation("One or more parameter values were invalid: index name %q or its projection", d.IndexName)
	}
	schema, err := def.schema(d.KeySchema, map[string]bool{})
	if err != nil {
		return err
	}
	x := &index{schema: schema}
	for _, p := range t.rows.order {
		for _, e := range p.rows {
			if k, ok := schema.keyIn(e.row.item); ok {
				x.rows.add(k, e.row)
			}
		}
	}
	def.GlobalSecondaryIndexes = append(slices.Clone(def.GlobalSecondaryIndexes), d)
	t.definition, t.indexes[d.IndexName] = def, x
	return nil
}

func (b *Backend) deleteTable(c *Call) (any, error) {
	t, err := b.named(c)
	if err != nil {
		return nil, err
	}
	if t.definition.DeletionProtectionEnabled {
		return nil, validation("Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.")
	}
	delete(b.tables, t.name)
	d := t.describe()
	d["TableStatus"] = "DELETING"
	return map[string]any{"TableDescription": d}, nil
}

func (b *Backend) listTables(c *Call) (any, error) {
	in, err := decode[struct {
		ExclusiveStartTableName string
		Limit                   int
	}](c)
	if err != nil {
		return nil, err
	}
	limit := in.Limit
	if limit == 0 {
		limit = 100
	}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(b.tables)), func(name string) bool { return name <= in.ExclusiveStartTableName })
	out := map[string]any{"TableNames": names[:min(limit, len(names))]}
	if len(names) > limit {
		out["LastEvaluatedTableName"] = names[limit-1]
	}
	return out, nil
}

func (b *Backend) updateTimeToLive(c *Call) (any, error) {
	in, err := decode[struct {
		tableRequest
		TimeToLiveSpecification struct {
			AttributeName string
			Enabled       bool
		}
	}](c)
	if err != nil {
		return nil, err
	}
	t, bad := b.tableOf(in.TableName)
	if bad != nil {
		return nil, bad
	}
	s := in.TimeToLiveSpecification
	switch {
	case s.AttributeName == "":
		return nil, validation("TimeToLiveSpecification.AttributeName must not be empty")
	case s.Enabled && t.ttl != "":
		return nil, validation("TimeToLive is already enabled")
	case !s.Enabled && t.ttl == "":
		return nil, validation("TimeToLive is already disabled")
	case s.Enabled:
		t.ttl = s.AttributeName
	default:
		t.ttl = ""
	}
	return map[string]any{"TimeToLiveSpecification": s}, nil
}

func (b *Backend) describeTimeToLive(c *Call) (any, error) {
	t, err := b.named(c)
	if err != nil {
		return nil, err
	}
	d := map[string]string{"TimeToLiveStatus": "DISABLED"}
	if t.ttl != "" {
		d = map[string]string{"TimeToLiveStatus": "ENABLED", "AttributeName": t.ttl}
	}
	return map[string]any{"TimeToLiveDescription": d}, nil
}

func (b *Backend) updateContinuousBackups(c *Call) (any, error) {
	in, err := decode[struct {
		tableRequest
		PointInTimeRecoverySpecification struct {
			PointInTimeRecoveryEnabled bool
			RecoveryPeriodInDays       int
		}
	}](c)
	if err != nil {
		return nil, err
	}
	t, bad := b.tableOf(in.TableName)
	if bad != nil {
		return nil, bad
	}
	t.recovery = in.PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled
	return t.describeBackups(), nil
}

func (b *Backend) describeContinuousBackups(c *Call) (any, error) {
	t, err := b.named(c)
	if err != nil {
		return nil, err
	}
	return t.describeBackups(), nil
}

func (t *table) describeBackups() any {
	status := "DISABLED"
	if t.recovery {
		status = "ENABLED"
	}
	return map[string]any{"ContinuousBackupsDescription": map[string]any{
		"ContinuousBackupsStatus":        "ENABLED",
		"PointInTimeRecoveryDescription": map[string]any{"PointInTimeRecoveryStatus": status},
	}}
}
