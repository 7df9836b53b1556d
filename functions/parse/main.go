// Command parse is the Lambda function that runs spiders: a page comes in, requests
// and items go out.
package main

import (
	"github.com/skitterhq/skitter/shared/lambdahost"
	"github.com/skitterhq/skitter/shared/topology"
	"github.com/skitterhq/skitter/spiders"
)

func main() { lambdahost.Main(topology.Parse, spiders.Project(), nil) }
