package spidermw

import (
	"strings"

	"github.com/skitterhq/skitter/shared/weburl"
)

// from is the page that may be told of.
type from struct {
	secure bool   // fetched by https
	origin string // as in "https://example.com"
	url    string // without user, password and fragment
}

// A rule gives what a target is told: f.url, f.origin and a slash, or "".
type rule func(f from, target string) string

// ruleOf returns the rule of a policy's name. It is nil for no-referrer, and for
// a name that is unknown.
func ruleOf(policy string) rule {
	switch policy {
	case "scrapy-default", "no-referrer-when-downgrade":
		// Scrapy tells the two apart by pages that are files, which are never
		// told of here.
		return func(f from, target string) string { return unlessDowngrade(f, target, f.url) }
	case "same-origin":
		return func(f from, target string) string { return whereSame(f, target, f.url, "") }
	case "origin":
		return func(f from, _ string) string { return f.origin + "/" }
	case "strict-origin":
		return func(f from, target string) string { return unlessDowngrade(f, target, f.origin+"/") }
	case "origin-when-cross-origin":
		return func(f from, target string) string { return whereSame(f, target, f.url, f.origin+"/") }
	case "strict-origin-when-cross-origin":
		return func(f from, target string) string {
			return unlessDowngrade(f, target, whereSame(f, target, f.url, f.origin+"/"))
		}
	case "unsafe-url":
		return func(f from, _ string) string { return f.url }
	}
	return nil
}

// unlessDowngrade keeps what was read over https from being told in the clear.
func unlessDowngrade(f from, target, told string) string {
	if f.secure && !strings.HasPrefix(target, "https:") {
		return ""
	}
	return told
}

func whereSame(f from, target, same, other string) string {
	if u, err := weburl.Parse(target); err == nil && u.Origin() == f.origin {
		return same
	}
	return other
}
