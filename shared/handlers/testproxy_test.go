package handlers_test

import (
	"bufio"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// A testProxy takes requests for http, tunnels for https, and wants a password
// where it has one.
type testProxy struct {
	t        testing.TB
	password string
	status   int    // of the answer to CONNECT, if not 200
	headers  string // of an answer to CONNECT with 200

	mu    sync.Mutex
	asked []string
	auths map[string]bool
}

func (p *testProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	auth := r.Header.Get("Proxy-Authorization")
	p.mu.Lock()
	p.asked = append(p.asked, r.Method+" "+r.RequestURI)
	if p.auths == nil {
		p.auths = map[string]bool{}
	}
	p.auths[r.RemoteAddr+" "+auth] = true
	p.mu.Unlock()
	if p.password != "" && auth != "Basic "+base64.StdEncoding.EncodeToString([]byte(p.password)) {
		w.Header().Set("Proxy-Authenticate", "Basic")
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	}
	if r.Method != http.MethodConnect {
		r.Header.Del("Proxy-Authorization")
		r.RequestURI = ""
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		w.WriteHeader(resp.StatusCode)
		io.Copy(w, resp.Body)
		return
	}
	if p.status != 0 {
		w.WriteHeader(p.status)
		return
	}
	there, err := net.Dial("tcp", r.Host)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	here, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		p.t.Error(err)
		return
	}
	io.WriteString(here, "HTTP/1.1 200 Connection established\r\n"+p.headers+"\r\n")
	pump(here, there)
}

func pump(a, b net.Conn) {
	go func() { io.Copy(a, b); a.Close(); b.Close() }()
	go func() { io.Copy(b, a); a.Close(); b.Close() }()
}

// serveSOCKS is a proxy of SOCKS 5 that wants user and password, if any.
func serveSOCKS(t testing.TB, user, password string) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go socks(conn, user, password)
		}
	}()
	return listener.Addr().String()
}

func socks(conn net.Conn, user, password string) {
	r := bufio.NewReader(conn)
	read := func(n int) []byte { b := make([]byte, n); io.ReadFull(r, b); return b }
	read(int(read(2)[1]))
	if user == "" {
		conn.Write([]byte{5, 0})
	} else {
		conn.Write([]byte{5, 2})
		read(1)
		gotUser := string(read(int(read(1)[0])))
		gotPassword := string(read(int(read(1)[0])))
		if gotUser != user || gotPassword != password {
			conn.Write([]byte{1, 1})
			conn.Close()
			return
		}
		conn.Write([]byte{1, 0})
	}
	host := ""
	switch head := read(4); head[3] {
	case 1:
		host = net.IP(read(4)).String()
	case 3:
		host = string(read(int(read(1)[0])))
	}
	port := binary.BigEndian.Uint16(read(2))
	if host == "only-the-proxy-knows.example" {
		host = "127.0.0.1"
	}
	there, err := net.Dial("tcp", net.JoinHostPort(host, fmt.Sprint(port)))
	if err != nil {
		conn.Write([]byte{5, 5, 0, 1, 0, 0, 0, 0, 0, 0})
		conn.Close()
		return
	}
	conn.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	pump(conn, there)
}

func proxied(t testing.TB, p *testProxy, secure bool) string {
	p.t = t
	server := httptest.NewUnstartedServer(p)
	server.Config.ErrorLog = quiet()
	if secure {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return server.URL
}
