package crawl_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/crawl"
)

func TestRedactedHeaders(t *testing.T) {
	got := crawl.RedactedHeaders(http.Header{
		"Authorization":        {"Basic c2VjcmV0", "secret"},
		"Proxy-Authorization":  {"Basic c2VjcmV0"},
		"Cookie":               {"sid=secret; lang=en=x; secret"},
		"Set-Cookie":           {"sid=secret; Path=/; HttpOnly", "b=secret"},
		"X-Api-Key":            {"secret"},
		"X-Amz-Security-Token": {"secret"},
		"Referer":              {"http://u:secret@example.com/a"},
		"Location":             {"/a"},
		"Accept":               {"text/html"},
		"Www-Authenticate":     {`Basic realm="x"`},
	})
	want := http.Header{
		"Authorization":        {"Basic …", "…"},
		"Proxy-Authorization":  {"Basic …"},
		"Cookie":               {"sid=…; lang=…;…"},
		"Set-Cookie":           {"sid=…; Path=/; HttpOnly", "b=…"},
		"X-Api-Key":            {"…"},
		"X-Amz-Security-Token": {"…"},
		"Referer":              {"http://xxxxx@example.com/a"},
		"Location":             {"/a"},
		"Accept":               {"text/html"},
		"Www-Authenticate":     {`Basic realm="x"`},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRedactedRequest(t *testing.T) {
	form := "application/x-www-form-urlencoded"
	for _, test := range []struct{ kind, body, want string }{
		{form, "user=demo&password=secret&csrf_token=secret", "user=demo&password=…&csrf_token=…"},
		{form, "q=keyboard&page=2", "q=keyboard&page=2"},
		{"application/json", `{"user": "demo", "api_key": "se\"cret", "pin": 1234, "monkey": "x"}`, `{"user": "demo", "api_key": "…", "pin": "…", "monkey": "x"}`},
		{"multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"pass\"\r\n\r\nsecret\r\n--b\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\nx\r\n--b--\r\n",
			"--b\r\nContent-Disposition: form-data; name=\"pass\"\r\n\r\n…\r\n--b\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\nx\r\n--b--\r\n"},
		{"text/plain", "password=x", "password=x"},
	} {
		r := &crawl.Request{Body: []byte(test.body), Headers: http.Header{"Content-Type": {test.kind}}}
		if got := string(r.Redacted().Body); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", test.kind, got, test.want)
		}
	}

	r := &crawl.Request{
		URL: "http://u:secret@example.com/", Cookies: []crawl.Cookie{{Name: "a", Value: "secret"}},
		Headers:  http.Header{"Authorization": {"Bearer secret"}},
		Options:  crawl.Options{Proxy: "http://u:secret@proxy:3128", HTTPUser: "secret", HTTPPass: "secret"},
		Progress: crawl.Progress{Jars: "secret", RedirectURLs: []string{"http://secret@example.com/"}},
	}
	before, _ := json.Marshal(r)
	shown, err := json.Marshal(r.Redacted())
	if err != nil || strings.Contains(string(shown), "secret") || !strings.Contains(string(shown), "proxy:3128") {
		t.Errorf("%s, %v", shown, err)
	}
	if after, _ := json.Marshal(r); string(after) != string(before) {
		t.Error("the request itself was changed")
	}
}

func TestSecretName(t *testing.T) {
	for name, want := range map[string]bool{
		"password": true, "user_password": true, "X-Api-Key": true, "apiKey": true, "HTTPAUTH_PASS": true, "csrfmiddlewaretoken": true,
		"key": true, "pwd": true, "sid": true, "PHPSESSID": true, "keyword": false, "passage": false, "side": false,
		"Accept": false, "author": false, "spinning": false, "ROBOTSTXT_OBEY": false,
	} {
		if got := crawl.SecretName(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
