package api_test

import (
	"bytes"
	"errors"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/api"
	"github.com/skitterhq/skitter/shared/crawl"
)

func TestErrorsAreScrapyds(t *testing.T) {
	s := newService(t)
	s.ok(t, "POST", "schedule.json", "project=p&spider=s&jobid=taken")
	long := strings.Repeat("x", 201)
	for _, c := range []struct{ method, endpoint, form, want string }{
		{"POST", "schedule.json", "", "'project' parameter is required"},
		{"POST", "schedule.json", "project=p", "'spider' parameter is required"},
		{"POST", "schedule.json", "project=q&spider=s", "project 'q' not found"},
		{"POST", "schedule.json", "project=../p&spider=s", "project '../p' not found"},
		{"POST", "schedule.json", "project=P&spider=s", "project 'P' not found"},
		{"POST", "schedule.json", "project=&spider=s", "project '' not found"},
		{"POST", "schedule.json", "project=p&spider=nope", "spider 'nope' not found"},
		{"POST", "schedule.json", "project=p&spider=..%2Fs", "spider '../s' not found"},
		{"POST", "schedule.json", "project=p&spider=s&_version=v0", "version 'v0' not found"},
		{"POST", "schedule.json", "project=p&spider=s&priority=x", "priority is invalid: could not convert string to float: 'x'"},
		{"POST", "schedule.json", "project=p&spider=s&setting=A", "setting is invalid: 'A' is not NAME=VALUE"},
		{"POST", "schedule.json", "project=p&spider=s&setting=%3DA", "setting is invalid: '=A' is not NAME=VALUE"},
		{"POST", "schedule.json", "project=p&spider=s&_start_url=x", `_start_url is invalid: url "x": no scheme: write http:// or https:// in front of it`},
		{"POST", "schedule.json", "project=p&spider=s&_start_url=file:///etc/passwd", "_start_url is invalid: files of the machine that crawls are not for who asks from elsewhere"},
		{"POST", "schedule.json", "project=p&spider=s&=x", "a spider argument has no name"},
		{"POST", "schedule.json", "project=p&spider=s&jobid=", "jobid is invalid: it is empty"},
		{"POST", "schedule.json", "project=p&spider=s&jobid=..", `jobid is invalid: ".." has slashes or control characters, or is a folder's name`},
		{"POST", "schedule.json", "project=p&spider=s&jobid=..%2F..%2Fx", `jobid is invalid: "../../x" has slashes or control characters, or is a folder's name`},
		{"POST", "schedule.json", "project=p&spider=s&jobid=a%5Cb", `jobid is invalid: "a\\b" has slashes or control characters, or is a folder's name`},
		{"POST", "schedule.json", "project=p&spider=s&jobid=a%0Ab", `jobid is invalid: "a\nb" has slashes or control characters, or is a folder's name`},
		{"POST", "schedule.json", "project=p&spider=s&jobid=" + long, "jobid is invalid: it has 201 bytes, more than 200"},
		{"POST", "schedule.json", "project=p&spider=s&jobid=%ff", "jobid is invalid: it is not UTF-8"},
		{"POST", "schedule.json", "project=p&spider=s&%ff=1", "\uFFFD is invalid: it is not UTF-8"},
		{"POST", "schedule.json", "project=p&spider=s&jobid=taken&arg=1", "job 'taken' was started with other arguments; give another jobid"},
		{"POST", "schedule.json", "project=%zz", `the form is invalid: invalid URL escape "%zz"`},
		{"GET", "listspiders.json", "project=%zz", `the query is invalid: invalid URL escape "%zz"`},
		{"POST", "cancel.json", "job=taken", "'project' parameter is required"},
		{"POST", "cancel.json", "project=p", "'job' parameter is required"},
		{"POST", "cancel.json", "project=q&job=taken", "project 'q' not found"},
		{"GET", "status.json", "project=p", "'job' parameter is required"},
		{"GET", "status.json", "project=q&job=taken", "project 'q' not found"},
		{"GET", "listjobs.json", "project=q", "project 'q' not found"},
		{"GET", "listspiders.json", "", "'project' parameter is required"},
		{"GET", "listspiders.json", "project=q", "project 'q' not found"},
		{"GET", "listspiders.json", "project=p&_version=v0", "version 'v0' not found"},
		{"GET", "listversions.json", "", "'project' parameter is required"},
		{"POST", "delversion.json", "version=v1.2", "'project' parameter is required"},
		{"POST", "delversion.json", "project=p", "'version' parameter is required"},
		{"POST", "delversion.json", "project=q&version=v1.2", "project 'q' not found"},
		{"POST", "delversion.json", "project=p&version=v0", "version 'v0' not found"},
		{"POST", "delversion.json", "project=p&version=v1.2", "version 'v1.2' cannot be deleted here: code is deployed with the stack; deploy the stack with another version"},
		{"POST", "delproject.json", "", "'project' parameter is required"},
		{"POST", "delproject.json", "project=q", "project 'q' not found"},
		{"POST", "delproject.json", "project=p", "project 'p' cannot be deleted here: code is deployed with the stack; delete the stack"},
	} {
		resp := call(s, c.method, c.endpoint, c.form)
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s %.60s: status %d", c.endpoint, c.form, resp.StatusCode)
		}
		want := map[string]any{"status": "error", "message": c.want}
		if diff := cmp.Diff(want, read(t, resp)); diff != "" {
			t.Errorf("%s %.60s: mismatch (-want, +got):\n%s", c.endpoint, c.form, diff)
		}
	}
	if list, err := s.rows.List(t.Context(), "", 0); err != nil || len(list) != 1 {
		t.Errorf("%d jobs (%v): what is refused starts none", len(list), err)
	}
}

func TestMethods(t *testing.T) {
	s := newService(t)
	for _, verb := range []string{"daemonstatus", "status", "listjobs", "listspiders", "listprojects", "listversions"} {
		testMethods(t, s, verb+".json", "OPTIONS, HEAD, GET", "POST", "PUT", "DELETE")
	}
	for _, verb := range []string{"schedule", "cancel", "addversion", "delversion", "delproject"} {
		testMethods(t, s, verb+".json", "OPTIONS, POST", "GET", "HEAD", "PUT", "DELETE")
	}
	if resp := call(s, "HEAD", "daemonstatus.json", ""); resp.StatusCode != http.StatusOK {
		t.Errorf("HEAD daemonstatus.json: %d", resp.StatusCode)
	}
}

func testMethods(t *testing.T, s *service, endpoint, allow string, wrong ...string) {
	t.Helper()
	for _, method := range wrong {
		resp := call(s, method, endpoint, "project=p&spider=s&job=j&version=v1.2")
		if resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != allow {
			t.Errorf("%s %s: %d, Allow %q; want 405, %q", method, endpoint, resp.StatusCode, resp.Header.Get("Allow"), allow)
		}
		if ans := read(t, resp); ans["status"] != "error" || !strings.Contains(ans["message"].(string), method) {
			t.Errorf("%s %s: %v", method, endpoint, ans)
		}
	}
	resp := call(s, "OPTIONS", endpoint, "")
	if resp.StatusCode != http.StatusNoContent || resp.Header.Get("Allow") != allow {
		t.Errorf("OPTIONS %s: %d, Allow %q", endpoint, resp.StatusCode, resp.Header.Get("Allow"))
	}
}

func TestUnknownPaths(t *testing.T) {
	s := newService(t)
	for _, path := range []string{"", "schedule", "Schedule.json", "x/../schedule.json", "/schedule.json", "schedule.json/", "..%2Fschedule.json"} {
		resp := call(s, "POST", path, "project=p&spider=s")
		if ans := read(t, resp); resp.StatusCode != http.StatusNotFound || ans["status"] != "error" {
			t.Errorf("/%s: %d %v", path, resp.StatusCode, ans)
		}
	}
}

func TestABodyThatIsTooLong(t *testing.T) {
	s := newService(t)
	const head = "project=p&spider=s&arg="
	for _, c := range []struct{ size, want int }{
		{1 << 20, http.StatusOK},
		{1<<20 + 1, http.StatusRequestEntityTooLarge},
	} {
		resp := call(s, "POST", "schedule.json", head+strings.Repeat("x", c.size-len(head)))
		if ans := read(t, resp); resp.StatusCode != c.want {
			t.Errorf("%d bytes: %d %.100v; want %d", c.size, resp.StatusCode, ans, c.want)
		}
	}
	resp := serve(s, upload(t, "addversion.json", strings.Repeat("PK", 1<<20)))
	if ans := read(t, resp); resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("egg: %d %v", resp.StatusCode, ans)
	}
}

// upload is what curl -F sends.
func upload(t *testing.T, endpoint, egg string) *http.Request {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, value := range map[string]string{"project": "p", "version": "r23", "spider": "s", "jobid": "multi"} {
		if err := form.WriteField(name, value); err != nil {
			t.Fatal(err)
		}
	}
	file, err := form.CreateFormFile("egg", "p.egg")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Write([]byte(egg)); err != nil {
		t.Fatal(err)
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/"+endpoint, &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	return r
}

func TestAddVersionSaysWhatToDo(t *testing.T) {
	s := newService(t)
	resp := serve(s, upload(t, "addversion.json", "PK"))
	ans := read(t, resp)
	if message, _ := ans["message"].(string); resp.StatusCode != http.StatusOK || ans["status"] != "error" || !strings.Contains(message, "deploy the stack") {
		t.Errorf("%d %v", resp.StatusCode, ans)
	}
}

func TestAFormOfSeveralParts(t *testing.T) {
	s := newService(t)
	read(t, serve(s, upload(t, "schedule.json", "PK")))
	want := crawl.JobSpec{Spider: "s", Args: map[string]string{"version": "r23"}}
	if diff := cmp.Diff(want, s.spec(t, "multi")); diff != "" {
		t.Errorf("mismatch (-want, +got):\n%s", diff)
	}
}

// A page of another site that a browser has open cannot start jobs through a
// proxy that signs requests.
func TestRequestsForOtherSites(t *testing.T) {
	s := newService(t)
	for site, want := range map[string]int{"cross-site": http.StatusForbidden, "same-site": http.StatusForbidden, "same-origin": http.StatusOK, "none": http.StatusOK} {
		r := httptest.NewRequest(http.MethodPost, "/schedule.json?project=p&spider=s", nil)
		r.Header.Set("Sec-Fetch-Site", site)
		resp := serve(s, r)
		if ans := read(t, resp); resp.StatusCode != want {
			t.Errorf("Sec-Fetch-Site %s: %d %v; want %d", site, resp.StatusCode, ans, want)
		}
		if got := resp.Header.Get("Access-Control-Allow-Origin"); got != "" {
			t.Errorf("Access-Control-Allow-Origin %q", got)
		}
	}
}

var errSecret = errors.New("table arn:aws:dynamodb:us-east-1:000000000000:table/skitter-jobs is not there")

func TestFaultsOfTheServiceAreLoggedAndNotShown(t *testing.T) {
	s := newService(t, func(c *api.Config) { c.Jobs = brokenJobs{} })
	s.engine.createErr = errSecret
	stops := newService(t)
	stops.put(t, crawl.Job{Name: "j", State: crawl.JobRunning})
	stops.engine.stopErr = errSecret
	for _, c := range []struct {
		s                      *service
		method, endpoint, form string
	}{
		{s, "POST", "schedule.json", "project=p&spider=s"},
		{s, "POST", "cancel.json", "project=p&job=j"},
		{stops, "POST", "cancel.json", "project=p&job=j"},
		{s, "GET", "status.json", "job=j"},
		{s, "GET", "listjobs.json", ""},
		{s, "GET", "daemonstatus.json", ""},
	} {
		c.s.log.Reset()
		resp := call(c.s, c.method, c.endpoint, c.form)
		want := map[string]any{"status": "error", "message": "the job service failed; its log says why"}
		if diff := cmp.Diff(want, read(t, resp)); diff != "" || resp.StatusCode != http.StatusInternalServerError {
			t.Errorf("%s: %d, mismatch (-want, +got):\n%s", c.endpoint, resp.StatusCode, diff)
		}
		if !strings.Contains(c.s.log.String(), errSecret.Error()) {
			t.Errorf("%s: log %q", c.endpoint, c.s.log)
		}
	}
}
