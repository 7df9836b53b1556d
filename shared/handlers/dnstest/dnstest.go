// Package dnstest says for tests what the names of hosts mean.
package dnstest

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// Resolve makes the names of this process mean the addresses that answer gives,
// until the test ends; nil is no address. Answer is asked at each lookup, for A
// and for AAAA, and may be called from several goroutines.
func Resolve(t *testing.T, answer func(name string) []string) {
	t.Helper()
	was := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = was })
	// The first lookup of a process makes what package net keeps, and no bubble
	// of testing/synctest may own that.
	_, _ = Resolver(func(string) []string { return nil }).LookupHost(t.Context(), "first.example")
	net.DefaultResolver = Resolver(answer)
}

// Resolver is a resolver of its own, by the same answers.
func Resolver(answer func(string) []string) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		go serve(far, answer)
		return near, nil
	}}
}

// Names is an answer for [Resolve] that is always the same.
func Names(addresses map[string][]string) func(string) []string {
	return func(name string) []string { return addresses[name] }
}

// serve answers the one question of a connection, framed as over TCP.
func serve(conn net.Conn, answer func(string) []string) {
	defer conn.Close()
	buf := make([]byte, 2+512)
	n, err := conn.Read(buf)
	if err != nil || n < 2 {
		return
	}
	for n < 2+(int(buf[0])<<8|int(buf[1])) {
		m, err := conn.Read(buf[n:])
		if err != nil {
			return
		}
		n += m
	}
	var m dnsmessage.Message
	if m.Unpack(buf[2:n]) != nil {
		return
	}
	q := m.Questions[0]
	m.Response, m.Additionals = true, nil
	for _, a := range answer(strings.TrimSuffix(q.Name.String(), ".")) {
		ip := netip.MustParseAddr(a)
		head := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: q.Type}
		switch {
		case ip.Is4() && q.Type == dnsmessage.TypeA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AResource{A: ip.As4()}})
		case ip.Is6() && q.Type == dnsmessage.TypeAAAA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AAAAResource{AAAA: ip.As16()}})
		}
	}
	if out, err := m.Pack(); err == nil {
		_, _ = conn.Write(append([]byte{byte(len(out) >> 8), byte(len(out))}, out...)) // who asked may be gone
	}
}
