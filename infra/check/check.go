// Package check holds a CloudFormation template against what a crawl relies on,
// property by property: the code is written for a deployment that has them all,
// and lacks work or money in one that does not.
//
// It reads the template alone, so it finds what somebody changed in CDK as well
// as what CDK changed by itself.
package check

import (
	"fmt"

	"github.com/skitterhq/skitter/shared/topology"
)

// A Finding is a property that a template lacks.
type Finding struct {
	// Property is its name.
	Property string
	// Text says what is wrong, and with which resource.
	Text string
}

func (f Finding) String() string { return f.Property + ": " + f.Text }

// A property is one thing that a crawl relies on.
type property struct {
	name  string
	check func(v *view)
}

// properties are all of them. What each is good for stands at its func.
var properties = []property{
	{"recursive-loop", recursiveLoop},
	{"code", code},
	{"environment", environment},
	{"address-guard", addressGuard},
	{"logs", logs},
	{"reserved-concurrency", reservedConcurrency},

	{"queues", queues},
	{"visibility", visibility},
	{"redrive", redrive},
	{"dead-letter-queue", deadLetterQueue},
	{"encrypted-queues", encryptedQueues},
	{"tls-queues", tlsQueues},

	{"sources", sources},
	{"partial-batch", partialBatch},
	{"concurrency", concurrency},

	{"tables", tables},
	{"ttl", ttl},
	{"recovery", recovery},
	{"bucket", bucket},
	{"lifecycle", lifecycle},

	{"own-roles", ownRoles},
	{"least-privilege", leastPrivilege},
	{"takes-and-sends", takesAndSends},
	{"url", url},
	{"not-public", notPublic},

	{"sweep", sweep},
	{"schedules", schedules},
	{"rules", rules},
	{"lost-events", lostEvents},
}

// alarmProperty is apart, since alarms may be left out.
var alarmProperty = property{"alarms", alarms}

// Properties are the names of what is checked, in order.
func Properties() []string {
	var names []string
	for _, p := range append(properties, alarmProperty) {
		names = append(names, p.name)
	}
	return names
}

// Options say what of a template is there by choice.
type Options struct{ Alarms, Events bool }

// Template returns what a template lacks of what a stack relies on.
func Template(template map[string]any, stack topology.Stack, o Options) []Finding {
	v := newView(template, stack)
	for _, p := range properties {
		if p.name == "rules" && !o.Events {
			continue
		}
		v.property = p.name
		p.check(v)
	}
	if o.Alarms {
		v.property = alarmProperty.name
		alarms(v)
	}
	return v.findings
}

// A view is a template on its way through the checks.
type view struct {
	topology.Stack
	resources []resource
	property  string
	findings  []Finding
}

// bad notes a finding.
func (v *view) bad(format string, args ...any) {
	v.findings = append(v.findings, Finding{v.property, fmt.Sprintf(format, args...)})
}
