package shared_test

import (
	"os"
	"strings"
	"testing"
)

// scrapyNames are what people write in Scrapy's spiders and around them.
// Settings and stats keep their names, and stand in docs/settings.md.
var scrapyNames = strings.Fields(`
	Spider name allowed_domains start_urls custom_settings start start_requests parse callback errback
	handle_httpstatus_list from_crawler update_settings logger state get_retry_request
	Request url method headers body priority dont_filter cb_kwargs flags encoding meta replace from_curl to_curl
	FormRequest JsonRequest from_response follow follow_all urljoin json text status request
	HtmlResponse XmlResponse JsonResponse TextResponse
	download_timeout dont_retry max_retry_times dont_redirect download_slot allow_offsite dont_obey_robotstxt
	depth depth_reset referrer_policy is_start_request retry_times redirect_urls redirect_reasons
	http_user http_pass http_auth_domain priority_adjust give_up_log_level RETRY_EXCEPTIONS HTTPAUTH_DOMAIN
	ROTATING_PROXY_LIST ROTATING_PROXY_BACKOFF_BASE ROTATING_PROXY_BACKOFF_CAP ROTATING_PROXY_PAGE_RETRY_TIMES ROTATING_PROXY_CLOSE_SPIDER
	cookiejar dont_merge_cookies proxy dont_cache download_latency bindaddress
	css xpath jmespath get getall re re_first attrib drop remove_namespaces register_namespace set_xpathfunc
	re:test has-class Selector LinkExtractor Link extract_links matches
	Item Field ItemAdapter ItemLoader add_css add_xpath add_jmes add_value nested_css nested_xpath
	get_output_value get_collected_values load_item default_input_processor default_output_processor
	Identity TakeFirst Join Compose MapCompose SelectJmes
	CrawlSpider Rule process_links process_request parse_start_url process_results
	SitemapSpider sitemap_urls sitemap_rules sitemap_follow sitemap_alternate_links sitemap_filter
	XMLFeedSpider itertag iterator namespaces adapt_response parse_node CSVFeedSpider delimiter quotechar parse_row
	process_response process_exception process_start process_spider_input process_spider_output process_spider_exception
	HttpErrorMiddleware RefererMiddleware UrlLengthMiddleware DepthMiddleware StartSpiderMiddleware MetaCopyDetectionMiddleware
	OffsiteMiddleware RobotsTxtMiddleware HttpAuthMiddleware DownloadTimeoutMiddleware DefaultHeadersMiddleware
	UserAgentMiddleware RetryMiddleware MetaRefreshMiddleware HttpCompressionMiddleware RedirectMiddleware
	CookiesMiddleware HttpProxyMiddleware DownloaderStats HttpCacheMiddleware DummyPolicy RFC2616Policy HTTPCACHE_STORAGE
	process_item open_spider close_spider DropItem IgnoreRequest CloseSpider DontCloseSpider StopDownload
	FilesPipeline ImagesPipeline inc_value
	spider_opened spider_closed spider_idle spider_error request_scheduled request_dropped request_reached_downloader
	request_left_downloader response_received response_downloaded headers_received bytes_received
	item_scraped item_dropped item_error engine_started engine_stopped scheduler_empty
	LogStats CoreStats MemoryUsage MemoryDebugger TelnetConsole PeriodicLog SpiderState AutoThrottle
	LogFormatter SPIDER_CONTRACTS JOBDIR FEEDS
	startproject genspider crawl list fetch shell check runspider view settings edit bench inspect_response scrapyd
`)

// TestScrapysNamesAreTold holds docs/coming-from-scrapy.md to what it promises.
func TestScrapysNamesAreTold(t *testing.T) {
	page, err := os.ReadFile("../docs/coming-from-scrapy.md")
	if err != nil {
		t.Fatal(err)
	}
	words := make(map[string]bool)
	for row := range strings.Lines(string(page)) {
		cells := strings.Split(row, "|")
		if len(cells) < 3 {
			continue
		}
		for _, word := range strings.FieldsFunc(cells[1], func(r rune) bool { return strings.ContainsRune(" `.,()[]\"=…{}", r) }) {
			words[strings.TrimSuffix(word, ":")] = true
		}
	}
	for _, name := range scrapyNames {
		if !words[name] {
			t.Errorf("no row tells what %s is here", name)
		}
	}
}
