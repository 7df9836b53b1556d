package check

import (
	"slices"
	"strings"

	"github.com/skitterhq/skitter/shared/topology"
)

// ownRoles: no two functions have the same rights.
func ownRoles(v *view) {
	owner := map[string]string{}
	for _, r := range v.of("Lambda::Function") {
		role := v.role(r)
		if other := owner[role.id]; other != "" {
			v.bad("%s and %s share a role", other, r.id)
		}
		owner[role.id] = r.id
		if role.get("ManagedPolicyArns") != nil {
			v.bad("%s has a policy of AWS's, which allows more than the function does", role.id)
		}
	}
}

// never are actions that no function does.
var never = []string{
	"dynamodb:Scan", "dynamodb:DeleteTable", "dynamodb:UpdateTable", "dynamodb:CreateTable",
	"sqs:PurgeQueue", "sqs:DeleteQueue", "sqs:SetQueueAttributes", "s3:DeleteBucket", "s3:PutBucketPolicy",
}

// leastPrivilege: a function may do what it does, on what it does it to.
func leastPrivilege(v *view) {
	for _, role := range v.of("IAM::Role") {
		for _, s := range v.allowed(role) {
			if s.effect == "Allow" {
				v.narrow(s)
			}
		}
	}
	for _, f := range v.Functions {
		role := v.role(v.function(f.Name))
		for _, t := range v.Tables {
			touches := slices.ContainsFunc(v.allowed(role), func(s statement) bool { return mentions(s.resources, v.table(t.Name).id) })
			if want := slices.Contains(users[t.Name], f.Name); touches != want {
				v.bad("function %s may use table %s: %v, not %v", f.Name, t.Name, touches, want)
			}
		}
		v.deletes(f.Name, role)
	}
}

// deletable are the folders in which functions delete objects.
var deletable = map[string]string{topology.Control: "pages/", topology.Fetch: "httpcache/"}

// deletes is a finding where a function does not delete objects in its own
// folder, or does elsewhere.
func (v *view) deletes(function string, role resource) {
	own, found := deletable[function], false
	for _, s := range v.allowed(role) {
		if !slices.Contains(s.actions, any("s3:DeleteObject")) {
			continue
		}
		for _, r := range s.resources {
			found = true
			if where := text(r); own == "" || !strings.Contains(where, "/"+own+"*") {
				v.bad("function %s may delete objects in %s", function, where)
			}
		}
	}
	if own != "" && !found {
		v.bad("function %s may not delete objects in %s", function, own)
	}
}

// users are the functions that use each table.
var users = map[string][]string{
	topology.TableFrontier: {topology.Control, topology.Fetch, topology.Parse},
	topology.TableItems:    {topology.Control, topology.Pipeline},
	topology.TableJobs:     {topology.Control, topology.Fetch, topology.Parse, topology.Pipeline},
	topology.TableHosts:    {topology.Fetch},
}

// narrow is a finding where a statement allows more than one thing after
// another: only objects are not named one by one.
func (v *view) narrow(s statement) {
	for _, action := range s.actions {
		name, _ := action.(string)
		if strings.Contains(name, "*") || slices.Contains(never, name) {
			v.bad("%s allows %s", s.of, name)
		}
	}
	objects := !slices.ContainsFunc(s.actions, func(a any) bool {
		return !slices.Contains([]any{"s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"}, a)
	})
	for _, r := range s.resources {
		where := text(r)
		if !strings.Contains(where, "*") {
			continue
		}
		// A folder of the bucket, not all of it.
		if !objects || strings.Contains(where, `"/*"`) || where == `"*"` {
			v.bad("%s allows %s on %s", s.of, text(s.actions), where)
		}
	}
	prefixes := list(get(get(s.condition, "StringLike"), "s3:prefix"))
	all := slices.ContainsFunc(prefixes, func(p any) bool { name, _ := p.(string); return !strings.HasSuffix(name, "/*") })
	if slices.Contains(s.actions, any("s3:ListBucket")) && (len(prefixes) == 0 || all) {
		v.bad("%s lists all of the bucket", s.of)
	}
}

// takesAndSends: a function may take from its own queues alone, and send on to
// where its stage does.
func takesAndSends(v *view) {
	for _, f := range v.Functions {
		may := v.allowed(v.role(v.function(f.Name)))
		for _, q := range v.Queues {
			queue := v.queue(q.Name)
			own := slices.ContainsFunc(f.Sources, func(s topology.Source) bool { return s.Queue == q.Name })
			for _, action := range []string{"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"} {
				if mayDo(may, action, queue.id) != own {
					v.bad("function %s may %s queue %s: %v, not %v", f.Name, action, q.Name, !own, own)
				}
			}
			if want := slices.Contains(senders[q.Name], f.Name); mayDo(may, "sqs:SendMessage", queue.id) != want {
				v.bad("function %s may send to queue %s: %v, not %v", f.Name, q.Name, !want, want)
			}
		}
	}
}

// senders are the functions that send to each queue.
var senders = map[string][]string{
	topology.QueueControl:     {topology.Control, topology.Fetch, topology.Parse, topology.Pipeline},
	topology.QueueRequestHigh: {topology.Control, topology.Fetch, topology.Parse},
	topology.QueueRequest:     {topology.Control, topology.Fetch, topology.Parse},
	topology.QueueRequestLow:  {topology.Control, topology.Fetch, topology.Parse},
	topology.QueuePage:        {topology.Control, topology.Fetch, topology.Parse},
	topology.QueueItem:        {topology.Control, topology.Parse, topology.Pipeline},
}

// url: control has one, for callers whom IAM knows, and there is a policy for
// them with both actions that a call needs.
func url(v *view) {
	control := v.function(topology.Control)
	urls := v.of("Lambda::Url")
	if len(urls) != 1 || !points(urls[0].get("TargetFunctionArn"), control.id) {
		v.bad("%s has not the only URL", control.id)
		return
	}
	v.want(urls[0], "AuthType", "AWS_IAM")
	var may []statement
	for _, p := range v.of("IAM::ManagedPolicy") {
		may = append(may, statements(p.id, p.get("PolicyDocument"))...)
	}
	for _, action := range []string{"lambda:InvokeFunctionUrl", "lambda:InvokeFunction"} {
		if !mayDo(may, action, control.id) {
			v.bad("no policy allows callers %s", action)
		}
	}
}

// notPublic: nothing is open to everybody.
func notPublic(v *view) {
	for _, p := range v.of("Lambda::Permission") {
		if p.get("Principal") == "*" {
			v.bad("%s lets everybody invoke", p.id)
		}
		if p.get("SourceArn") == nil && p.get("SourceAccount") == nil {
			v.bad("%s lets %v invoke for anybody", p.id, p.get("Principal"))
		}
	}
	for _, kind := range []string{"SQS::QueuePolicy", "S3::BucketPolicy"} {
		for _, p := range v.of(kind) {
			for _, s := range statements(p.id, p.get("PolicyDocument")) {
				if s.effect == "Allow" && (s.principal == "*" || get(s.principal, "AWS") == "*") {
					v.bad("%s allows everybody %s", p.id, text(s.actions))
				}
			}
		}
	}
}
