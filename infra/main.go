// Command infra writes the cloud assembly of the stack, which the CDK CLI then
// deploys: the template, and the functions' binaries.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/aws/jsii-runtime-go"

	"github.com/skitterhq/skitter/infra/stack"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "infra:", err)
		os.Exit(1)
	}
}

// run is apart from main so that what jsii started ends in any case.
func run() error {
	defer jsii.Close()
	context := stack.Values{}
	dist := flag.String("dist", "../dist-arm64", "folder of the binaries, one folder a function")
	out := flag.String("out", "", "where the cloud assembly is written (default cdk.out)")
	flag.Var(context, "c", "`NAME=VALUE` of the context, as for the CDK CLI; may be given again")
	flag.Parse()
	if *out == "" && os.Getenv("CDK_OUTDIR") == "" { // the CLI sets it
		*out = "cdk.out"
	}
	app, err := stack.New(stack.Config{Dist: *dist, Out: *out, Context: context, Validate: true})
	if err != nil {
		return err
	}
	_, err = app.Synth()
	return err
}
