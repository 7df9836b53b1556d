package events_test

import (
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"
)

// urlHost is that of a function URL.
const urlHost = "skitterurl00000000000000000000000.lambda-url." + region + ".on.aws"

// urlCalls are calls of control's function URL, by their file's middle.
func urlCalls() map[string]any {
	const (
		project = "project=default"
		job     = project + "&job=quotes-1"
		form    = project + "&spider=quotes&jobid=quotes-1&setting=DOWNLOAD_DELAY%3D0&tag=walks&_start_url=http%3A%2F%2F127.0.0.1%3A8000%2Fquotes%2Fpage%2F1%2F"
	)
	return map[string]any{
		"daemonstatus":    get("daemonstatus", ""),
		"schedule":        post("schedule", form),
		"schedule-base64": inBase64(post("schedule", form)),
		"cancel":          inBase64(post("cancel", job)),
		"status":          get("status", "job=quotes-1&project=default"),
		"listjobs":        get("listjobs", project),
		"listspiders":     get("listspiders", project),
		"listprojects":    get("listprojects", ""),
		"listversions":    get("listversions", project),
		"addversion":      inBase64(upload()),
		"delversion":      inBase64(post("delversion", project+"&version=r1")),
		"delproject":      inBase64(post("delproject", project)),
	}
}

func get(verb, query string) fields { return urlCall("GET", verb, query, "", "") }

func post(verb, form string) fields {
	return urlCall("POST", verb, "", "application/x-www-form-urlencoded", form)
}

// upload is what scrapyd-client sends to deploy an egg; this one is a ZIP file
// without files.
func upload() fields {
	const boundary = "0123456789abcdef0123456789abcdef"
	var b strings.Builder
	part := func(disposition, value string) {
		b.WriteString("--" + boundary + "\r\nContent-Disposition: form-data; " + disposition + "\r\n\r\n" + value + "\r\n")
	}
	part(`name="project"`, "default")
	part(`name="version"`, "r1")
	part(`name="egg"; filename="project.egg"`, "PK\x05\x06"+strings.Repeat("\x00", 18))
	b.WriteString("--" + boundary + "--\r\n")
	return urlCall("POST", "addversion", "", "multipart/form-data; boundary="+boundary, b.String())
}

// urlCall is an event of payload format 2.0. Source: AWS Lambda Developer
// Guide, "Invoking Lambda function URLs".
func urlCall(method, verb, query, contentType, body string) fields {
	path := "/" + verb + ".json"
	headers := fields{
		{"accept", "*/*"}, {"host", urlHost}, {"user-agent", "Scrapyd-client/2.0.3"},
		{"x-amz-date", sent.Format("20060102T150405Z")}, {"x-amzn-trace-id", "Root=1-692bd9e0-000000000000000000000001"},
		{"x-forwarded-for", "203.0.113.7"}, {"x-forwarded-port", "443"}, {"x-forwarded-proto", "https"},
	}
	if method == "POST" {
		headers = append(headers, field{"content-length", strconv.Itoa(len(body))}, field{"content-type", contentType})
	}
	call := fields{{"version", "2.0"}, {"routeKey", "$default"}, {"rawPath", path}, {"rawQueryString", query}, {"headers", headers}}
	if query != "" {
		call = append(call, field{"queryStringParameters", parameters(query)})
	}
	call = append(call, field{"requestContext", requestContext(method, path)})
	if body != "" {
		call = append(call, field{"body", body})
	}
	return append(call, field{"isBase64Encoded", false})
}

func requestContext(method, path string) fields {
	id, _, _ := strings.Cut(urlHost, ".")
	return fields{
		{"accountId", account}, {"apiId", id},
		{"authorizer", fields{{"iam", fields{
			{"accessKey", "ASIAEXAMPLE"}, {"accountId", account}, {"callerId", "AIDAEXAMPLE"},
			{"cognitoIdentity", nil}, {"principalOrgId", nil},
			{"userArn", "arn:aws:iam::" + account + ":user/example"}, {"userId", "AIDAEXAMPLE"},
		}}}},
		{"domainName", urlHost}, {"domainPrefix", id},
		{"http", fields{
			{"method", method}, {"path", path}, {"protocol", "HTTP/1.1"}, {"sourceIp", "203.0.113.7"},
			{"userAgent", "Scrapyd-client/2.0.3"},
		}},
		{"requestId", "7a1d6f6e-5d0a-4a33-8d63-2f9c36f2d0a1"}, {"routeKey", "$default"}, {"stage", "$default"},
		{"time", sent.Format("02/Jan/2006:15:04:05 -0700")}, {"timeEpoch", sent.UnixMilli()},
	}
}

// parameters are a query's by name, in its order; none is repeated.
func parameters(query string) fields {
	var list fields
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		value, err := url.QueryUnescape(value)
		if err != nil {
			panic(err) // a sample's own query
		}
		list = append(list, field{name, value})
	}
	return list
}

// inBase64 is a call with its body as Lambda sends all but text and JSON.
func inBase64(call fields) fields {
	for k := range call {
		switch call[k].name {
		case "body":
			call[k].value = base64.StdEncoding.EncodeToString([]byte(call[k].value.(string)))
		case "isBase64Encoded":
			call[k].value = true
		}
	}
	return call
}
