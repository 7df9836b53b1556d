package handlers_test

import (
	"errors"
	"log/slog"
	"reflect"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/stats"
)

func TestScope(t *testing.T) {
	there := map[string]downloader.Handler{"http": echo, "https": echo, "data": echo, "file": echo, "s3": echo, "db": echo, "browser": echo}
	const start, web = "", "http://example.com/"
	tests := []struct {
		from, url string
		options   crawl.Options
		want      string
	}{
		{from: start, url: "http://example.com/"},
		{from: start, url: "file:///etc/hosts"},
		{from: start, url: "s3://bucket/key"},
		{from: start, url: "db:row"},
		{from: start, url: "ftp://example.com/", want: "unsupported-scheme"},
		{from: start, url: "javascript:1", want: "unsupported-scheme"},
		{from: start, url: "ftp://example.com/", options: crawl.Options{DownloadHandler: "browser"}},
		{from: web, url: "https://example.com/"},
		{from: web, url: "data:,x"},
		{from: web, url: "mailto:a@example.com", want: "unsupported-scheme"},
		{from: web, url: "file:///proc/self/environ", want: "forbidden-scheme"},
		{from: web, url: "FILE:///proc/self/environ", want: "forbidden-scheme"},
		{from: web, url: "s3://bucket/key", want: "forbidden-scheme"},
		{from: web, url: "db:row", want: "forbidden-scheme"},
		{from: "data:text/html,x", url: "file:///etc/hosts", want: "forbidden-scheme"},
		{from: "s3://bucket/page", url: "file:///etc/hosts", want: "forbidden-scheme"},
		{from: "file:///a/page.html", url: "file:///a/next.html"},
		{from: "file:///a/page.html", url: "https://example.com/"},
		{from: "s3://bucket/page", url: "s3://bucket/next"},
		{from: web, url: "s3://bucket/key", options: crawl.Options{AllowScheme: true}},
		{from: web, url: "ftp://a/", options: crawl.Options{AllowScheme: true}, want: "unsupported-scheme"},
	}
	for _, test := range tests {
		var st stats.Collector
		scope := handlers.Scope(there, &st, slog.New(slog.DiscardHandler))
		var from *crawl.Request
		if test.from != start {
			from = &crawl.Request{URL: test.from}
		}
		err := scope(from, &crawl.Request{URL: test.url, Options: test.options})
		var drop *crawl.Drop
		got := ""
		if errors.As(err, &drop) {
			got = drop.Reason
		}
		if got != test.want {
			t.Errorf("%s on %q: %v, want %q", test.url, test.from, err, test.want)
		}
		counted := map[string]map[string]int64{
			"unsupported-scheme": {"scheme/unsupported": 1}, "forbidden-scheme": {"scheme/forbidden": 1}, "": {},
		}[test.want]
		if got := st.Take(); len(got)+len(counted) > 0 && !reflect.DeepEqual(got, counted) {
			t.Errorf("%s on %q: counted %v", test.url, test.from, got)
		}
	}
}

func TestAnAddressWithoutHandlerIsToldWhatThereIs(t *testing.T) {
	there := map[string]downloader.Handler{"http": echo, "data": echo}
	err := handlers.CheckScheme(there, "ftp://user:secret@example.com/")
	const want = `url "ftp:…": nothing here fetches ftp URLs (FTP is not built in; a project can bring a handler of its own); there are handlers of data, http`
	if err == nil || err.Error() != want {
		t.Errorf("error %v\nwant  %s", err, want)
	}
	if err := handlers.CheckScheme(there, "HTTP://example.com/"); err != nil {
		t.Error(err)
	}
}
