package casetest

import "testing"

// A kind says who runs its cases: one function, where all of them have one
// shape; a test named by each ID, where they have not; or a later issue.
type kind struct {
	run   func(*testing.T, reported)
	named map[string]func(*testing.T)
	issue string
	note  string // where the cases are run until then
}

func later(issue string, note ...string) kind {
	k := kind{issue: issue}
	for _, n := range note {
		k.note += "; until then " + n + " runs it"
	}
	return k
}

// The issues that do the later kinds.
const (
	infraIssue      = "the stack"       // the stack in CDK, and what is shown of it
	politenessIssue = "politeness"      // slots, delays, back-off
	feedsAndMedia   = "feeds and media" // export of feeds, pipelines of files and images
)

// parts are what single cases wait for, whose kind is done else.
var parts = map[string]string{
	"EXP-08": feedsAndMedia,
}

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

		"infra_template":  later(infraIssue, "infra/stack, by ID,"),
		"infra_and_chain": later(infraIssue, "TestEMU07 here, for the chain,"),
		"job_api":         later(infraIssue, "shared/api, by ID,"),
		"ui":              later(infraIssue),

		"link_extract": {run: linkExtract},
		"decode":       {run: decodeText},
		"decode_many":  {run: decodeMany},
		"decode_json":  {run: decodeJSON},
		"sitemap":      {run: sitemapCase},
		"sitemap_many": {run: sitemapMany},
		"feed":         {run: feedCase},
		"feed_many":    {run: feedMany},
		"crawl_bound":  {run: crawlBound},
		"referer":      {run: referer},
		"export":       later(feedsAndMedia),
		"feed_uri":     later(feedsAndMedia),
		"media_path":   later(feedsAndMedia),
		"perf_html":    {run: perfHTML},

		"http_response":      {run: httpResponse},
		"http_response_many": {run: httpResponseMany},
		"http_raw":           {run: httpRaw},
		"http_raw_many":      {run: httpRawMany},
		"redirect_many":      {run: redirectMany},
		"redirect_matrix":    {named: map[string]func(*testing.T){"RED-04": TestRED04}},
		"redirect_chain":     {run: redirectChain},
		"meta_refresh":       {run: metaRefresh},
		"cookies":            {run: cookies},
		"robots_fetch":       {run: robotsFetch},
		"robots_fetch_urls":  {run: robotsFetchURLs},
		"retry_statuses":     {run: retryStatuses},
		"sequence":           {named: sequences},
		"ssrf":               {run: ssrf},
		"ssrf_dns":           {named: map[string]func(*testing.T){"SEC-03": TestSEC03}},
		"bomb":               {run: bomb},
		"scheme":             {named: map[string]func(*testing.T){"SEC-09": TestSEC09}},
		"perf_conn":          {run: perfConn},
		"perf_mem":           {run: perfMem},
		"perf_cpu":           {run: perfCPU},

		"retry_after": later(politenessIssue, "shared/downloadermw"),
		"retry_long":  later(politenessIssue),
		"throttle":    later(politenessIssue),
	}
}
