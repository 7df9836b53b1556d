package handlers_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/handlers"
)

func TestAResponseTellsOfItsConnection(t *testing.T) {
	for protocol, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true} {
		t.Run(protocol, func(t *testing.T) {
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") }))
			server.EnableHTTP2 = http2
			server.StartTLS()
			defer server.Close()
			job := newHandler(t, handlers.Options{}).ForJob(with(t, map[string]any{"DOWNLOAD_VERIFY_CERTIFICATES": false}))
			sum := sha256.Sum256(server.Certificate().Raw)
			for n := range 2 { // the second time over a kept connection
				resp, err := job.Fetch(t.Context(), &crawl.Request{URL: server.URL})
				if err != nil {
					t.Fatal(err)
				}
				if resp.Protocol != protocol || resp.IPAddress != "127.0.0.1" {
					t.Errorf("protocol %s, address %s", resp.Protocol, resp.IPAddress)
				}
				cert := resp.Certificate
				if cert == nil || cert.SHA256 != hex.EncodeToString(sum[:]) || cert.Subject != "O=Acme Co" || cert.Issuer != "O=Acme Co" ||
					!cert.NotAfter.Equal(server.Certificate().NotAfter) || !cert.NotBefore.Equal(server.Certificate().NotBefore) {
					t.Fatalf("request %d: certificate %+v", n, cert)
				}
				cert.Subject = "a callback may write" // and no other response sees it
				timing := resp.Timing
				if timing.Reused != (n == 1) || (timing.Connect > 0) != (n == 0) || (timing.TLS > 0) != (n == 0) {
					t.Errorf("request %d: timing %+v", n, timing)
				}
				if timing.FirstByte <= 0 || timing.Body <= 0 {
					t.Errorf("request %d: timing %+v", n, timing)
				}
			}
		})
	}
}
