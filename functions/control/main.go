// Command control is the Lambda function that looks after jobs: it starts and
// ends them, sweeps, accounts for dead letters, and serves the job service.
package main

import (
	"net/http"
	"runtime/debug"

	"github.com/skitterhq/skitter/shared/api"
	"github.com/skitterhq/skitter/shared/assembly/cloud"
	"github.com/skitterhq/skitter/shared/lambdahost"
	"github.com/skitterhq/skitter/shared/topology"
	"github.com/skitterhq/skitter/spiders"
)

func main() { lambdahost.Main(topology.Control, spiders.Project(), service) }

// service is the job service, which the function's URL serves.
func service(c *cloud.Cloud) http.Handler {
	version := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		version = info.Main.Version
	}
	return api.New(api.Config{
		Engine: c, Jobs: c.Jobs, Project: c.Project.Name, Version: version, Spiders: c.Registry.Names(),
		Check: c.Check, NodeName: c.Stack.FunctionName(topology.Control), Log: c.Log,
	})
}
