package handlers

import (
	"bufio"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/proxy"

	"github.com/skitterhq/skitter/shared/crawl"
)

// A proxyServer is what a request's Proxy names.
type proxyServer struct {
	scheme     string // http, https or socks5
	host, port string
	auth       string        // the header Proxy-Authorization, of http and https
	user       *url.Userinfo // of socks5
}

var errProxyURL = errors.New(`the proxy is no URL as in http://user:password@host:port; there are http, https, socks5 and socks5h`)

// proxyOf reads a request's proxy, nil if it has none. Its errors tell nothing
// of the URL, as it may hold a password.
func proxyOf(req *crawl.Request) (*proxyServer, error) {
	if req.Proxy == "" || req.Proxy == crawl.NoProxy {
		return nil, nil
	}
	u, err := url.Parse(req.Proxy)
	if err != nil || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, errProxyURL
	}
	p := &proxyServer{scheme: u.Scheme, host: u.Hostname()}
	switch u.Scheme {
	case "http":
		p.port = cmp.Or(u.Port(), "80")
	case "https":
		p.port = cmp.Or(u.Port(), "443")
	case "socks5", "socks5h":
		// The proxy looks up the host in both cases, as in net/http.
		p.scheme, p.port, p.user = "socks5", cmp.Or(u.Port(), "1080"), u.User
		return p, nil
	default:
		return nil, errProxyURL
	}
	p.auth = req.Headers.Get("Proxy-Authorization")
	if p.auth == "" && u.User != nil {
		password, _ := u.User.Password()
		p.auth = "Basic " + base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password))
	}
	if hasControl(p.auth) {
		return nil, errors.New("the header Proxy-Authorization has a control character")
	}
	return p, nil
}

// openProxy connects to the route's proxy and, where it is to be a tunnel, has
// it connect to the server.
func (d *dialer) openProxy(ctx context.Context, r *route) (*link, error) {
	p, start := r.proxy, time.Now()
	l, err := d.tcp(ctx, r, p.host, p.port, d.proxyGuard, reachingProxy)
	if err != nil {
		return nil, &dialError{err: fmt.Errorf("the proxy: %w", err), proxy: true}
	}
	socket := l.Conn
	if p.scheme == "https" {
		l.Conn, err = handshake(ctx, socket, p.host, forProxy(r.proxyTLS))
	}
	if err == nil && !r.tellsURLs() {
		r.at(tunnelling)
		err = p.tunnel(ctx, l, r.addr())
	}
	if err != nil {
		socket.Close()
		return nil, &dialError{err: fmt.Errorf("the proxy: %w", err), proxy: true}
	}
	l.connect = time.Since(start) - l.dns
	return l, nil
}

// tunnel has the proxy connect to an address.
func (p *proxyServer) tunnel(ctx context.Context, l *link, addr string) error {
	if p.scheme != "socks5" {
		return connectThrough(ctx, l.Conn, addr, p.auth)
	}
	var auth *proxy.Auth
	if p.user != nil {
		auth = &proxy.Auth{User: p.user.Username()}
		auth.Password, _ = p.user.Password()
	}
	socks, err := proxy.SOCKS5("tcp", net.JoinHostPort(p.host, p.port), auth, opened{l.Conn})
	if err != nil {
		return err
	}
	conn, err := socks.(proxy.ContextDialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	l.Conn = conn
	return nil
}

// opened hands out a connection that is there.
type opened struct{ conn net.Conn }

func (o opened) Dial(string, string) (net.Conn, error) { return o.conn, nil }
func (o opened) DialContext(context.Context, string, string) (net.Conn, error) {
	return o.conn, nil
}

// connectThrough asks an HTTP proxy for a tunnel. Source: RFC 9110, section
// 9.3.6.
func connectThrough(ctx context.Context, conn net.Conn, addr, auth string) error {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	ask := "CONNECT " + addr + " HTTP/1.1\r\nHost: " + addr + "\r\n"
	if auth != "" {
		ask += "Proxy-Authorization: " + auth + "\r\n"
	}
	_, err := io.WriteString(conn, ask+"\r\n")
	r := bufio.NewReader(io.LimitReader(conn, MaxHeaderBytes))
	status := 0
	for n := 0; err == nil && status < 200 && n < 5; n++ {
		var answer *http.Response
		// A tunnel's answer has no body, whatever its headers say, and a no is
		// one without it.
		answer, err = http.ReadResponse(r, &http.Request{Method: http.MethodConnect}) //nolint:bodyclose // closing would wait for the body's end
		if err == nil {
			status = answer.StatusCode
		}
	}
	if !stop() {
		return ctx.Err()
	}
	switch {
	case err != nil:
		return fmt.Errorf("no answer to CONNECT: %w", err)
	case status < 200 || status > 299:
		return fmt.Errorf("it answered CONNECT with %d %s", status, http.StatusText(status))
	case r.Buffered() > 0:
		return errors.New("it said more than that the tunnel stands")
	}
	return nil
}
