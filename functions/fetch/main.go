// Command fetch is the Lambda function that fetches: a request comes in, a page or
// a failure goes out.
package main

import (
	"github.com/skitterhq/skitter/shared/lambdahost"
	"github.com/skitterhq/skitter/shared/topology"
	"github.com/skitterhq/skitter/spiders"
)

func main() { lambdahost.Main(topology.Fetch, spiders.Project(), nil) }
