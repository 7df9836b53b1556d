package casetest

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/skitterhq/skitter/shared/aws"
	"github.com/skitterhq/skitter/shared/aws/awstest"
	"github.com/skitterhq/skitter/shared/aws/provision"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/items"
	"github.com/skitterhq/skitter/shared/topology"
)

// TestMain runs the tests, or is the bootstrap of a function: this program is
// what the processes of a stack run.
func TestMain(m *testing.M) {
	if name := os.Getenv(asFunction); name != "" {
		functionMain(name)
		return
	}
	if err := warmUp(context.Background()); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// warmUp packs an item outside of all bubbles: package aws has one encoder in a
// process, which makes a channel when it is used first, and what was made in
// one bubble of testing/synctest cannot be used in another.
func warmUp(ctx context.Context) error {
	stack, backend := topology.Default("warm"), awstest.New(time.Now)
	if err := provision.Create(ctx, backend.Config(), stack); err != nil {
		return err
	}
	item, err := crawl.NewItem(map[string]string{"text": strings.Repeat("x", 10_000)})
	if err != nil {
		return err
	}
	s := aws.New(aws.Config{AWS: backend.Config(), Stack: stack, Now: time.Now})
	return s.Items().Put(ctx, jobA, []items.Row{{Key: items.Key{Unit: crawl.StartUnit, Run: "r"}, State: items.Stored, Item: item}})
}
