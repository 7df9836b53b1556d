package check

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skitterhq/skitter/shared/topology"
)

// A resource is one of a template.
type resource struct {
	id, kind string
	props    map[string]any
	whole    map[string]any
}

func newView(template map[string]any, stack topology.Stack) *view {
	v := &view{Stack: stack}
	all, _ := template["Resources"].(map[string]any)
	for _, id := range slices.Sorted(maps.Keys(all)) {
		whole, _ := all[id].(map[string]any)
		kind, _ := whole["Type"].(string)
		props, _ := whole["Properties"].(map[string]any)
		v.resources = append(v.resources, resource{id, kind, props, whole})
	}
	return v
}

// of are the resources of a kind, such as SQS::Queue.
func (v *view) of(kind string) []resource {
	var list []resource
	for _, r := range v.resources {
		if r.kind == "AWS::"+kind {
			list = append(list, r)
		}
	}
	return list
}

// find is the resource of a kind that a property names. A missing one is a
// finding, and has no properties.
func (v *view) find(kind, property, name string) resource {
	for _, r := range v.of(kind) {
		if r.get(property) == name {
			return r
		}
	}
	v.bad("there is no %s with %s %s", kind, property, name)
	return resource{id: "missing " + name}
}

func (v *view) queue(name string) resource {
	return v.find("SQS::Queue", "QueueName", v.QueueName(name))
}

func (v *view) function(name string) resource {
	return v.find("Lambda::Function", "FunctionName", v.FunctionName(name))
}

func (v *view) table(name string) resource {
	return v.find("DynamoDB::Table", "TableName", v.TableName(name))
}

// theBucket is the only one.
func (v *view) theBucket() resource {
	list := v.of("S3::Bucket")
	if len(list) != 1 {
		v.bad("there are %d buckets", len(list))
		return resource{id: "missing bucket"}
	}
	return list[0]
}

// role is a function's.
func (v *view) role(function resource) resource {
	for _, r := range v.of("IAM::Role") {
		if points(function.get("Role"), r.id) {
			return r
		}
	}
	v.bad("function %s has no role of the stack", function.id)
	return resource{id: "missing role"}
}

// get is a property by its path, such as ScalingConfig.MaximumConcurrency; nil
// if it is not there.
func (r resource) get(path string) any { return get(r.props, path) }

func get(value any, path string) any {
	for _, name := range strings.Split(path, ".") {
		m, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = m[name]
	}
	return value
}

// number is a property that is one; -1 if it is not.
func (r resource) number(path string) int {
	n, ok := r.get(path).(float64)
	if !ok {
		return -1
	}
	return int(n)
}

// want is a finding if a property is not as it should be.
func (v *view) want(r resource, path string, want any) {
	if got := r.get(path); text(got) != text(want) {
		v.bad("%s: %s is %s, not %s", r.id, path, text(got), text(want))
	}
}

// text is a value as JSON.
func text(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(data)
}

// list is a value as a list: CloudFormation takes one value as a list of one.
func list(value any) []any {
	switch value := value.(type) {
	case nil:
		return nil
	case []any:
		return value
	}
	return []any{value}
}

// points reports whether a value is a resource, or an attribute of it.
func points(value any, id string) bool {
	if get(value, "Ref") == id {
		return true
	}
	attribute, _ := get(value, "Fn::GetAtt").([]any)
	return len(attribute) > 0 && attribute[0] == id
}

// mentions reports whether a resource, or an attribute of it, is anywhere in a
// value.
func mentions(value any, id string) bool {
	if points(value, id) {
		return true
	}
	switch value := value.(type) {
	case map[string]any:
		for _, part := range value {
			if mentions(part, id) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(value, func(part any) bool { return mentions(part, id) })
	}
	return false
}

// A statement is one of a policy.
type statement struct {
	of                 string // the resource that has it
	effect             string
	actions, resources []any
	principal          any
	condition          any
}

// statements are those of a policy document.
func statements(of string, document any) []statement {
	var all []statement
	for _, s := range list(get(document, "Statement")) {
		effect, _ := get(s, "Effect").(string)
		all = append(all, statement{
			of: of, effect: effect, actions: list(get(s, "Action")), resources: list(get(s, "Resource")),
			principal: get(s, "Principal"), condition: get(s, "Condition"),
		})
	}
	return all
}

// allowed are the statements of a role, those of policies that are attached to
// it among them.
func (v *view) allowed(role resource) []statement {
	var all []statement
	for _, p := range list(role.get("Policies")) {
		all = append(all, statements(role.id, get(p, "PolicyDocument"))...)
	}
	for _, p := range v.of("IAM::Policy") {
		if mentions(p.get("Roles"), role.id) {
			all = append(all, statements(p.id, p.get("PolicyDocument"))...)
		}
	}
	return all
}

// mayDo reports whether statements allow an action on a resource.
func mayDo(all []statement, action, id string) bool {
	return slices.ContainsFunc(all, func(s statement) bool {
		return s.effect == "Allow" && slices.Contains(s.actions, any(action)) && mentions(s.resources, id)
	})
}
