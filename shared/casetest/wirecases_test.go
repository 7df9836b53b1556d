package casetest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/spider"
)

// TestHTTP05 has a server of HTTP/2 say goodbye on the first connection, after
// it has read the request, and echo on the second.
func TestHTTP05(t *testing.T) {
	var in struct {
		Request asking
		Server  []string
	}
	var want struct {
		Echo  string
		Times int `json:"retry_times"`
	}
	caseOf(t, "HTTP-05", &in, &want)
	if fmt.Sprint(in.Server) != "[goaway echo]" {
		t.Fatalf("no server does %v", in.Server)
	}
	connections := 0
	n := &network{
		takes: func(k int, conn net.Conn) bool {
			if connections = k + 1; k > 0 {
				return false
			}
			if err := sayGoAway(conn); err != nil {
				t.Error(err)
			}
			return true
		},
		site: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.Copy(w, r.Body); err != nil {
				t.Error(err)
			}
		}),
	}
	req := in.Request.request()
	req.DontObeyRobotsTxt = true
	got := scene{network: n, requests: []*crawl.Request{req}}.crawl(t)
	heard := got.only(t)
	if heard.outcome() != want.Echo || heard.Request.RetryTimes != want.Times || got.Stats["retry/count"] != int64(want.Times) || connections != len(in.Server) {
		t.Errorf("%q after %d retries over %d connections, want %q after %d", heard.outcome(), heard.Request.RetryTimes, connections, want.Echo, want.Times)
	}
	if len(n.asked) != 1 || n.asked[0].Body != in.Request.Body || n.asked[0].Proto != "HTTP/2.0" {
		t.Errorf("the second connection was asked %+v", n.asked)
	}
}

// sayGoAway reads one request of HTTP/2 and closes politely without an answer.
func sayGoAway(conn net.Conn) error {
	defer conn.Close()
	if err := conn.(*tls.Conn).Handshake(); err != nil {
		return err
	}
	if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
		return err
	}
	f := http2.NewFramer(conn, conn)
	if err := f.WriteSettings(); err != nil {
		return err
	}
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return err
		}
		if _, data := frame.(*http2.DataFrame); data && frame.Header().Flags.Has(http2.FlagDataEndStream) {
			go io.Copy(io.Discard, conn) // a pipe takes nothing that nobody reads, and the client may be writing
			return f.WriteGoAway(0, http2.ErrCodeNo, nil)
		}
	}
}

// TestHTTP06 has a server drip, a byte at a time and without end, while another
// page of the crawl is as it should be.
func TestHTTP06(t *testing.T) {
	var in struct {
		Server   string
		Interval int `json:"interval_s"`
		Settings struct {
			Timeout int `json:"DOWNLOAD_TIMEOUT"`
		}
	}
	var want struct {
		Seconds   float64 `json:"max_seconds"`
		Error     string
		Retryable bool
	}
	caseOf(t, "HTTP-06", &in, &want)
	if in.Server != "drip" {
		t.Fatalf("no server does %s", in.Server)
	}
	var mu sync.Mutex
	var took []time.Duration
	n := &network{raw: func(_ int, req *http.Request, conn net.Conn) bool {
		if req.URL.Path == "/fine" {
			_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine")
			return err == nil
		}
		begin := time.Now()
		_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
		for err == nil {
			if _, err = io.WriteString(conn, "1\r\nx\r\n"); err == nil {
				time.Sleep(time.Duration(in.Interval) * time.Second)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		took = append(took, time.Since(begin))
		return false
	}}
	got := scene{
		network: n, settings: map[string]string{"DOWNLOAD_TIMEOUT": strconv.Itoa(in.Settings.Timeout)},
		requests: []*crawl.Request{{URL: "http://slow.example/drip"}, {URL: "http://example.com/fine"}},
	}.crawl(t)
	outcomes := map[string]string{}
	for _, heard := range got.told {
		outcomes[mustPath(t, heard.Request.URL)] = heard.outcome()
	}
	if outcomes["/drip"] != want.Error || outcomes["/fine"] != "fine" || len(got.told) != 2 {
		t.Errorf("told %v, want %s and the other page", outcomes, want.Error)
	}
	if retried := got.Stats["retry/reason_count/"+want.Error] > 0; retried != want.Retryable {
		t.Errorf("tried again: %v, want %v", retried, want.Retryable)
	}
	for _, d := range took {
		if d.Seconds() > want.Seconds {
			t.Errorf("an attempt took %s, want %v s at most", d, want.Seconds)
		}
	}
}

func TestHTTP07(t *testing.T) {
	var in struct {
		Server   string
		Settings struct {
			Maxsize int `json:"DOWNLOAD_MAXSIZE"`
		}
	}
	var want struct {
		MaxRead int `json:"max_bytes_read"`
		Outcome string
		Retries int64
	}
	caseOf(t, "HTTP-07", &in, &want)
	if in.Server != "endless_chunks" || want.Outcome != "maxsize_error" {
		t.Fatalf("no server does %s, or nothing ends as %s", in.Server, want.Outcome)
	}
	read := 0
	n := &network{raw: func(_ int, _ *http.Request, conn net.Conn) bool {
		const size = 64 << 10
		chunk := fmt.Sprintf("%x\r\n%s\r\n", size, strings.Repeat("x", size))
		_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
		for err == nil {
			var k int
			k, err = io.WriteString(conn, chunk) // a pipe takes what is read
			read += k
		}
		return false
	}}
	got := scene{
		network: n, settings: map[string]string{"DOWNLOAD_MAXSIZE": strconv.Itoa(in.Settings.Maxsize)}, requests: []*crawl.Request{{URL: page}},
	}.crawl(t)
	if heard := got.only(t); heard.outcome() != handlers.ReasonTooLarge || got.Stats["retry/count"] != want.Retries {
		t.Errorf("%.100s after %d retries", heard.outcome(), got.Stats["retry/count"])
	}
	if read > want.MaxRead || read < in.Settings.Maxsize {
		t.Errorf("%d bytes were read, want %d to %d", read, in.Settings.Maxsize, want.MaxRead)
	}
}

func TestHTTP08(t *testing.T) {
	var in struct {
		Server   string
		Variants []string
		Settings []struct {
			Verify bool `json:"DOWNLOAD_VERIFY_CERTIFICATES"`
		}
	}
	var want struct {
		Off int
		On  string
	}
	caseOf(t, "HTTP-08", &in, &want)
	if in.Server != "tls" || want.On != "x509_error" {
		t.Fatalf("no server does %s, or nothing ends as %s", in.Server, want.On)
	}
	for _, variant := range in.Variants {
		for _, settings := range in.Settings {
			n := &network{site: scripted{Body: "page"}, shown: badCertificate(t, variant)}
			got := scene{
				network: n, settings: map[string]string{"DOWNLOAD_VERIFY_CERTIFICATES": strconv.FormatBool(settings.Verify)},
				requests: []*crawl.Request{{URL: "https://example.com/"}},
			}.crawl(t)
			if len(got.told) != 1 {
				t.Fatalf("%s, verified %v: told %+v: %v\n%s", variant, settings.Verify, got.told, got.Stats, got.Log)
			}
			heard := got.told[0]
			if !settings.Verify {
				if !heard.callback || heard.Status != want.Off {
					t.Errorf("%s, unverified: %+v (%v), want %d", variant, heard, heard.failure, want.Off)
				}
				continue
			}
			if heard.outcome() != handlers.ReasonCertificate || !strings.Contains(heard.failure.Error(), "x509") || got.Stats["retry/count"] != 0 {
				t.Errorf("%s, verified: %v after %d retries, want an error of x509 and none", variant, heard.failure, got.Stats["retry/count"])
			}
		}
	}
}

// badCertificate is one that a server shows which is set up badly.
func badCertificate(t *testing.T, variant string) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	own := &ca{key: key}
	leaf, signer := certificateFor("example.com"), certificateFor("example.com")
	switch variant {
	case "self_signed": // the signer has the same name and key
	case "missing_intermediate":
		template := certificateFor("an intermediate authority")
		template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
		der, err := x509.CreateCertificate(rand.Reader, template, authority().cert, &key.PublicKey, authority().key)
		if err != nil {
			t.Fatal(err)
		}
		if signer, err = x509.ParseCertificate(der); err != nil {
			t.Fatal(err)
		}
	default:
		t.Fatalf("no certificate is bad by being %s", variant)
	}
	cert, err := own.sign(leaf, signer, key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key}
}

// TestHTTP09 has a server close connections that were idle too long, which a
// function that slept learns only when it writes.
func TestHTTP09(t *testing.T) {
	var in struct {
		Server   string
		Idle     int `json:"idle_s"`
		Requests []string
	}
	var want struct {
		Statuses []int
		Times    []int `json:"retry_times"`
	}
	caseOf(t, "HTTP-09", &in, &want)
	if in.Server != "close_idle" {
		t.Fatalf("no server does %s", in.Server)
	}
	var requests []*crawl.Request
	var pause string
	for _, step := range in.Requests {
		method, rest, _ := strings.Cut(step, " ")
		if method == "sleep" {
			pause = rest
			continue
		}
		req := &crawl.Request{Method: method, URL: "http://example.com" + rest}
		if method == "POST" {
			req.Body = []byte("a=1")
		}
		requests = append(requests, req)
	}
	last := map[net.Conn]time.Time{}
	dropped := 0
	n := &network{raw: func(_ int, req *http.Request, conn net.Conn) bool {
		if at, used := last[conn]; used && time.Since(at) > time.Duration(in.Idle)*time.Second {
			dropped++
			return false
		}
		last[conn] = time.Now()
		_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage")
		return err == nil
	}}
	done := 1
	s := scene{
		network: n, requests: requests[:1], settings: map[string]string{"DOWNLOAD_DELAY": pause, "RANDOMIZE_DOWNLOAD_DELAY": "false"},
		parse: func(_ context.Context, _ *spider.Page, out *spider.Output) error {
			if done < len(requests) {
				out.Request(requests[done])
				done++
			}
			return nil
		},
	}
	got := s.crawl(t)
	var statuses, times []int
	for _, heard := range got.told {
		statuses, times = append(statuses, heard.Status), append(times, heard.Request.RetryTimes)
	}
	if fmt.Sprint(statuses, times) != fmt.Sprint(want.Statuses, want.Times) || got.Stats["retry/count"] != 0 {
		t.Errorf("statuses %v after %v retries, want %v and %v", statuses, times, want.Statuses, want.Times)
	}
	if dropped != len(requests)-1 {
		t.Errorf("%d connections had died, want %d, so the case is none", dropped, len(requests)-1)
	}
	if end := n.asked[len(n.asked)-1]; end.Method != "POST" || end.Body != "a=1" {
		t.Errorf("the POST came as %+v", end)
	}
}
