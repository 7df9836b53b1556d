// Command provisiontest creates a stack at an emulator and ends: a test in
// another module compares it with what is deployed there.
//
// It is for tests only.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/skitterhq/skitter/shared/aws"
	"github.com/skitterhq/skitter/shared/aws/provision"
	"github.com/skitterhq/skitter/shared/topology"
)

func main() {
	endpoint := flag.String("endpoint", "", "the emulator's address")
	name := flag.String("stack", "skitter", "the stack's name")
	bucket := flag.String("bucket", "", "the bucket's name")
	flag.Parse()
	if err := create(context.Background(), *endpoint, *name, *bucket); err != nil {
		fmt.Fprintln(os.Stderr, "provisiontest:", err)
		os.Exit(1)
	}
}

func create(ctx context.Context, endpoint, name, bucket string) error {
	cfg, err := aws.Load(ctx, endpoint)
	if err != nil {
		return err
	}
	stack := topology.Default(name)
	stack.Bucket = bucket
	return provision.Create(ctx, cfg, stack)
}
