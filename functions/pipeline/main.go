// Command pipeline is the Lambda function that keeps items.
package main

import (
	"github.com/skitterhq/skitter/shared/lambdahost"
	"github.com/skitterhq/skitter/shared/topology"
	"github.com/skitterhq/skitter/spiders"
)

func main() { lambdahost.Main(topology.Pipeline, spiders.Project(), nil) }
