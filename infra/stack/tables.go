package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/jsii-runtime-go"

	"github.com/skitterhq/skitter/shared/topology"
)

func newTables(s awscdk.Stack, t topology.Stack, o Options) map[string]awsdynamodb.Table {
	tables := map[string]awsdynamodb.Table{}
	for _, table := range t.Tables {
		tables[table.Name] = newTable(s, t, o, table)
	}
	return tables
}

func newTable(s awscdk.Stack, t topology.Stack, o Options, table topology.Table) awsdynamodb.Table {
	props := &awsdynamodb.TableProps{
		TableName:           jsii.String(t.TableName(table.Name)),
		PartitionKey:        attribute(table.Partition),
		SortKey:             attribute(table.Sort),
		BillingMode:         awsdynamodb.BillingMode_PAY_PER_REQUEST,
		TimeToLiveAttribute: jsii.String(topology.TTL),
		DeletionProtection:  &o.Prod,
		RemovalPolicy:       removal(o),
		WarmThroughput:      warm(o, table.Name),
	}
	if table.Recovery {
		props.PointInTimeRecoverySpecification = &awsdynamodb.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: jsii.Bool(true)}
	}
	made := awsdynamodb.NewTable(s, jsii.String("Table-"+table.Name), props)
	for _, index := range table.Indexes {
		made.AddGlobalSecondaryIndex(&awsdynamodb.GlobalSecondaryIndexProps{
			IndexName:      jsii.String(index.Name),
			PartitionKey:   attribute(index.Partition),
			SortKey:        attribute(index.Sort),
			ProjectionType: awsdynamodb.ProjectionType_ALL,
			WarmThroughput: warm(o, table.Name),
		})
	}
	return made
}

// attribute is nil for the zero Key.
func attribute(key topology.Key) *awsdynamodb.Attribute {
	if key.Name == "" {
		return nil
	}
	kinds := map[topology.AttributeType]awsdynamodb.AttributeType{
		topology.Text:   awsdynamodb.AttributeType_STRING,
		topology.Bytes:  awsdynamodb.AttributeType_BINARY,
		topology.Number: awsdynamodb.AttributeType_NUMBER,
	}
	return &awsdynamodb.Attribute{Name: jsii.String(key.Name), Type: kinds[key.Type]}
}

// warm is nil for a table that needs no more than a new one takes.
func warm(o Options, table string) *awsdynamodb.WarmThroughput {
	w, ok := o.Warm[table]
	if !ok {
		return nil
	}
	return &awsdynamodb.WarmThroughput{ReadUnitsPerSecond: jsii.Number(w.Reads), WriteUnitsPerSecond: jsii.Number(w.Writes)}
}
