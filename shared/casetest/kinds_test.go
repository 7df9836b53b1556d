package casetest

import "testing"

// A kind says who runs its cases: one function, where all of them have one
// shape; a test named by each ID, where they have not; or a later issue.
type kind struct {
	run   func(*testing.T, reported)
	named map[string]func(*testing.T)
	issue int
	note  string // where the cases are run until then
}

func later(issue int, note ...string) kind {
	k := kind{issue: issue}
	for _, n := range note {
		k.note += "; until then " + n + " runs it"
	}
	return k
}

// The issues that do the later kinds.
const (
	infra      = 6 // the stack in CDK, and what is shown of it
	spiders    = 7 // spiders, legs, extractors, feeds, encodings
	downloader = 8 // the downloader, its middlewares and handlers
	politeness = 9 // slots, delays, back-off
)

var kinds map[string]kind

// An init breaks the circle: the tests by ID read the cases, too.
func init() {
	kinds = map[string]kind{
		"sqs_batch":    {run: sqsBatch},
		"sqs_send":     {run: sqsSend},
		"message_skew": {run: messageSkew},
		"aws_batch":    {run: awsBatch},
		"counter":      {run: counter},
		"ttl":          {run: ttl},
		"race":         {run: race},
		"redelivery":   {run: redelivery},
		"roundtrip":    {run: roundtrip},
		"freeze":       {named: map[string]func(*testing.T){"SQS-11": TestSQS11}},
		"limit": {named: map[string]func(*testing.T){
			"DDB-03": TestDDB03, "DDB-04": TestDDB04, "S3-02": TestS302,
		}},
		"emulator": {named: map[string]func(*testing.T){
			"EMU-02": TestEMU02, "EMU-03": TestEMU03, "EMU-04": TestEMU04,
			"EMU-05": TestEMU05, "EMU-06": TestEMU06, "EMU-07": TestEMU07,
		}},

		"robots_match":        {run: robotsMatch},
		"robots_match_many":   {run: robotsMatchMany},
		"robots_fetch_many":   {run: robotsFetchMany},
		"robots_delay":        {run: robotsDelay},
		"url_resolve":         {run: urlResolve},
		"url_resolve_many":    {run: urlResolve},
		"property_idempotent": {run: idempotent},
		"fingerprint":         {run: fingerprint},

		"infra_template":  later(infra, "infra/stack, by ID,"),
		"infra_and_chain": later(infra, "TestEMU07 here, for the chain,"),
		"job_api":         later(infra, "shared/api, by ID,"),
		"ui":              later(infra),

		"link_extract": later(spiders),
		"decode":       later(spiders),
		"decode_many":  later(spiders),
		"decode_json":  later(spiders),
		"sitemap":      later(spiders),
		"sitemap_many": later(spiders),
		"feed":         later(spiders),
		"feed_many":    later(spiders),
		"crawl_bound":  later(spiders),
		"export":       later(spiders),
		"feed_uri":     later(spiders),
		"media_path":   later(spiders),
		"perf_html":    later(spiders),

		"http_response":      later(downloader, "shared/downloadermw"),
		"http_response_many": later(downloader, "shared/downloadermw"),
		"http_raw":           later(downloader, "shared/handlers"),
		"http_raw_many":      later(downloader, "shared/handlers"),
		"redirect_many":      later(downloader, "shared/downloadermw"),
		"redirect_matrix":    later(downloader),
		"redirect_chain":     later(downloader, "shared/downloadermw"),
		"meta_refresh":       later(downloader),
		"cookies":            later(downloader),
		"robots_fetch":       later(downloader, "shared/downloadermw"),
		"robots_fetch_urls":  later(downloader, "shared/downloadermw"),
		"retry_statuses":     later(downloader, "shared/downloadermw"),
		"sequence":           later(downloader),
		"ssrf":               later(downloader, "shared/handlers"),
		"ssrf_dns":           later(downloader),
		"bomb":               later(downloader, "shared/downloadermw"),
		"referer":            later(downloader),
		"scheme":             later(downloader),
		"perf_conn":          later(downloader),
		"perf_mem":           later(downloader),
		"perf_cpu":           later(downloader),

		"retry_after": later(politeness, "shared/downloadermw"),
		"retry_long":  later(politeness),
		"throttle":    later(politeness),
	}
}
