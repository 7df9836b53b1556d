package provision

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/skitterhq/skitter/shared/topology"
)

// createTables begins to make all tables, then waits for each: they are made
// side by side.
func (p *provisioner) createTables(ctx context.Context) error {
	for _, t := range p.stack.Tables {
		if err := p.createTable(ctx, t); err != nil {
			return p.tableFailure("create table "+p.stack.TableName(t.Name), err)
		}
	}
	for _, t := range p.stack.Tables {
		name := p.stack.TableName(t.Name)
		err := until(ctx, func(ctx context.Context) (bool, error) { return p.ready(ctx, name) })
		if err != nil {
			return p.tableFailure("wait for table "+name, err)
		}
		if err := p.addIndexes(ctx, t); err != nil {
			return p.tableFailure("add the indexes of table "+name, err)
		}
		if err := p.expire(ctx, name); err != nil {
			return p.tableFailure("let the rows expire of table "+name, err)
		}
		if t.Recovery {
			if err := p.keepPast(ctx, name); err != nil {
				return p.tableFailure("switch on recovery of table "+name, err)
			}
		}
	}
	return nil
}

// describe returns nil if there is no such table.
func (p *provisioner) describe(ctx context.Context, name string) (*dbtypes.TableDescription, error) {
	out, err := p.rows.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	var missing *dbtypes.ResourceNotFoundException
	if errors.As(err, &missing) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return out.Table, nil
}

func (p *provisioner) createTable(ctx context.Context, t topology.Table) error {
	name := p.stack.TableName(t.Name)
	is, err := p.describe(ctx, name)
	if err != nil {
		return err
	}
	if is != nil {
		if !sameKeys(is.KeySchema, keySchema(t.Partition, t.Sort)) {
			return errors.New("it is there with another key; delete it first, which loses its rows")
		}
		return nil
	}
	in := &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: dbtypes.BillingModePayPerRequest,
		KeySchema: keySchema(t.Partition, t.Sort), AttributeDefinitions: definitions(t),
	}
	for _, index := range t.Indexes {
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, dbtypes.GlobalSecondaryIndex{
			IndexName: awssdk.String(index.Name), KeySchema: keySchema(index.Partition, index.Sort), Projection: wholeRows(),
		})
	}
	_, err = p.rows.CreateTable(ctx, in)
	var busy *dbtypes.ResourceInUseException
	if errors.As(err, &busy) {
		return nil // another run makes it
	}
	return err
}

func wholeRows() *dbtypes.Projection {
	return &dbtypes.Projection{ProjectionType: dbtypes.ProjectionTypeAll}
}

func keySchema(partition, sort topology.Key) []dbtypes.KeySchemaElement {
	schema := []dbtypes.KeySchemaElement{{AttributeName: awssdk.String(partition.Name), KeyType: dbtypes.KeyTypeHash}}
	if sort.Name != "" {
		schema = append(schema, dbtypes.KeySchemaElement{AttributeName: awssdk.String(sort.Name), KeyType: dbtypes.KeyTypeRange})
	}
	return schema
}

func sameKeys(a, b []dbtypes.KeySchemaElement) bool {
	return slices.EqualFunc(a, b, func(a, b dbtypes.KeySchemaElement) bool {
		return *a.AttributeName == *b.AttributeName && a.KeyType == b.KeyType
	})
}

// definitions are the types of all attributes that are in a key.
func definitions(t topology.Table) []dbtypes.AttributeDefinition {
	keys := []topology.Key{t.Partition, t.Sort}
	for _, index := range t.Indexes {
		keys = append(keys, index.Partition, index.Sort)
	}
	var list []dbtypes.AttributeDefinition
	seen := map[string]bool{"": true}
	for _, key := range keys {
		if !seen[key.Name] {
			seen[key.Name] = true
			list = append(list, dbtypes.AttributeDefinition{
				AttributeName: awssdk.String(key.Name), AttributeType: dbtypes.ScalarAttributeType(key.Type),
			})
		}
	}
	return list
}

// ready reports whether a table and its indexes can be used.
func (p *provisioner) ready(ctx context.Context, name string) (bool, error) {
	t, err := p.describe(ctx, name)
	if err != nil || t == nil || t.TableStatus != dbtypes.TableStatusActive {
		return false, err
	}
	for _, index := range t.GlobalSecondaryIndexes {
		// Some emulators leave the status out.
		if index.IndexStatus != dbtypes.IndexStatusActive && index.IndexStatus != "" {
			return false, nil
		}
	}
	return true, nil
}

// addIndexes makes those that a table lacks, one at a time as DynamoDB wants
// it. Source: DynamoDB API Reference, UpdateTable.
func (p *provisioner) addIndexes(ctx context.Context, t topology.Table) error {
	name := p.stack.TableName(t.Name)
	is, err := p.describe(ctx, name)
	if err != nil {
		return err
	}
	for _, index := range t.Indexes {
		if is != nil && slices.ContainsFunc(is.GlobalSecondaryIndexes, func(d dbtypes.GlobalSecondaryIndexDescription) bool {
			return awssdk.ToString(d.IndexName) == index.Name
		}) {
			continue
		}
		_, err := p.rows.UpdateTable(ctx, &dynamodb.UpdateTableInput{
			TableName: &name, AttributeDefinitions: definitions(t),
			GlobalSecondaryIndexUpdates: []dbtypes.GlobalSecondaryIndexUpdate{{Create: &dbtypes.CreateGlobalSecondaryIndexAction{
				IndexName: awssdk.String(index.Name), KeySchema: keySchema(index.Partition, index.Sort), Projection: wholeRows(),
			}}},
		})
		if err == nil {
			err = until(ctx, func(ctx context.Context) (bool, error) { return p.ready(ctx, name) })
		}
		if err != nil {
			return fmt.Errorf("index %s: %w", index.Name, err)
		}
	}
	return nil
}

// expire lets DynamoDB delete the rows of a table whose time is over.
func (p *provisioner) expire(ctx context.Context, name string) error {
	out, err := p.rows.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &name})
	if p.unknown(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if d := out.TimeToLiveDescription; d != nil && awssdk.ToString(d.AttributeName) == topology.TTL &&
		(d.TimeToLiveStatus == dbtypes.TimeToLiveStatusEnabled || d.TimeToLiveStatus == dbtypes.TimeToLiveStatusEnabling) {
		return nil
	}
	_, err = p.rows.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName: &name,
		TimeToLiveSpecification: &dbtypes.TimeToLiveSpecification{
			AttributeName: awssdk.String(topology.TTL), Enabled: awssdk.Bool(true),
		},
	})
	if p.unknown(err) || code(err) == "ValidationException" && strings.Contains(err.Error(), "already enabled") {
		return nil // somebody else has just done it
	}
	return err
}

// keepPast switches on point-in-time recovery. A table that was just made may
// not be ready for it.
func (p *provisioner) keepPast(ctx context.Context, name string) error {
	return until(ctx, func(ctx context.Context) (bool, error) {
		out, err := p.rows.DescribeContinuousBackups(ctx, &dynamodb.DescribeContinuousBackupsInput{TableName: &name})
		if p.unknown(err) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		if d := out.ContinuousBackupsDescription; d != nil && d.PointInTimeRecoveryDescription != nil &&
			d.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus == dbtypes.PointInTimeRecoveryStatusEnabled {
			return true, nil
		}
		_, err = p.rows.UpdateContinuousBackups(ctx, &dynamodb.UpdateContinuousBackupsInput{
			TableName:                        &name,
			PointInTimeRecoverySpecification: &dbtypes.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: awssdk.Bool(true)},
		})
		var early *dbtypes.ContinuousBackupsUnavailableException
		if errors.As(err, &early) {
			return false, nil
		}
		if p.unknown(err) {
			err = nil
		}
		return err == nil, err
	})
}

func (p *provisioner) deleteTables(ctx context.Context) error {
	var missing *dbtypes.ResourceNotFoundException
	for _, t := range p.stack.Tables {
		name := p.stack.TableName(t.Name)
		_, err := p.rows.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &name})
		if err != nil && !errors.As(err, &missing) {
			return p.tableFailure("delete table "+name, err)
		}
	}
	for _, t := range p.stack.Tables {
		name := p.stack.TableName(t.Name)
		err := until(ctx, func(ctx context.Context) (bool, error) {
			is, err := p.describe(ctx, name)
			return is == nil, err
		})
		if err != nil {
			return p.tableFailure("wait until table "+name+" is deleted", err)
		}
	}
	return nil
}
