package check

import (
	"slices"

	"github.com/skitterhq/skitter/shared/topology"
)

// recursiveLoop: pages lead to requests and these to pages, which Lambda takes
// for a loop and ends after some 16 steps.
func recursiveLoop(v *view) {
	for _, f := range v.Functions {
		v.want(v.function(f.Name), "RecursiveLoop", "Allow")
	}
}

// code: the binaries are for arm64 and are started by their name.
func code(v *view) {
	for _, f := range v.Functions {
		r := v.function(f.Name)
		v.want(r, "Architectures", []any{"arm64"})
		v.want(r, "Runtime", "provided.al2023")
		v.want(r, "Handler", "bootstrap")
		v.want(r, "MemorySize", f.Memory)
		v.want(r, "Timeout", int(f.Timeout.Seconds()))
	}
}

// environment: a function finds its stack by its variables.
func environment(v *view) {
	for _, f := range v.Functions {
		r := v.function(f.Name)
		v.want(r, "Environment.Variables."+topology.EnvStack, v.Name)
		if bucket := v.theBucket(); text(r.get("Environment.Variables."+topology.EnvBucket)) != text(bucket.get("BucketName")) {
			v.bad("%s: %s is not the bucket's name", r.id, topology.EnvBucket)
		}
		if r.get("Environment.Variables."+topology.EnvTimeScale) != nil {
			v.bad("%s: %s is for tests", r.id, topology.EnvTimeScale)
		}
	}
}

// addressGuard: no address is let through that the guard forbids.
func addressGuard(v *view) {
	for _, r := range v.of("Lambda::Function") {
		if r.get("Environment.Variables."+topology.EnvAllowAddresses) != nil {
			v.bad("%s: %s opens the address guard", r.id, topology.EnvAllowAddresses)
		}
		if r.get("VpcConfig") != nil {
			v.bad("%s is in a VPC, whose addresses a crawl could reach", r.id)
		}
	}
}

// logs: they are JSON, in a group that forgets.
func logs(v *view) {
	for _, f := range v.Functions {
		r := v.function(f.Name)
		v.want(r, "LoggingConfig.LogFormat", "JSON")
		i := slices.IndexFunc(v.of("Logs::LogGroup"), func(g resource) bool { return points(r.get("LoggingConfig.LogGroup"), g.id) })
		if i < 0 {
			v.bad("%s has no log group of the stack", r.id)
		} else if group := v.of("Logs::LogGroup")[i]; group.number("RetentionInDays") < 1 {
			v.bad("%s keeps logs for ever", group.id)
		}
	}
}

// reservedConcurrency: what is reserved is enough for what the sources invoke,
// since a delivery that is throttled counts as a receive.
func reservedConcurrency(v *view) {
	for _, f := range v.Functions {
		r := v.function(f.Name)
		reserved := r.number("ReservedConcurrentExecutions")
		sum := 0
		for _, m := range v.mappings(r) {
			sum += most(m)
		}
		if reserved >= 0 && reserved < sum {
			v.bad("%s reserves %d, and its sources invoke %d at a time", r.id, reserved, sum)
		}
	}
}

// mappings are the sources of a function.
func (v *view) mappings(function resource) []resource {
	return slices.DeleteFunc(v.of("Lambda::EventSourceMapping"), func(m resource) bool {
		return !points(m.get("FunctionName"), function.id)
	})
}

// pollerConcurrent is how many invocations one provisioned poller has at a time.
// Source: AWS Lambda Developer Guide, "Using provisioned mode with an Amazon SQS
// event source mapping".
const pollerConcurrent = 10

// most is how many invocations a source has at a time; -1 sets no limit.
func most(mapping resource) int {
	if n := mapping.number("ProvisionedPollerConfig.MaximumPollers"); n > 0 {
		return n * pollerConcurrent
	}
	return mapping.number("ScalingConfig.MaximumConcurrency")
}
