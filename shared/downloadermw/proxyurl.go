package downloadermw

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/skitterhq/skitter/shared/weburl"
)

// An endpoint is a proxy as it is put into a request.
type endpoint struct {
	url   string // without user and password, unless the proxy is one of SOCKS
	auth  string // the Proxy-Authorization header; "" for none
	shown string // for logs: host and port
}

// howToWriteProxies ends the errors of proxies, which show nothing of the value,
// since that may be a password.
const howToWriteProxies = "write it as in http://user:password@proxy.example:3128, with http, https, socks5 or socks5h"

// parseProxy reads the URL of a proxy. Without a scheme it is one of HTTP. In
// user and password, characters of URLs are escaped (%40 for @).
func parseProxy(raw string, inUTF8 bool) (endpoint, error) {
	raw = strings.TrimSpace(raw)
	if !strings.Contains(raw, "://") {
		raw = "http://" + raw
	}
	u, err := weburl.Parse(raw)
	if err != nil || u.Hostname() == "" {
		return endpoint{}, errors.New("the proxy is no URL; " + howToWriteProxies)
	}
	e := endpoint{url: u.Scheme() + "://" + u.Host(), shown: u.Host()}
	name, password := u.User()
	switch u.Scheme() {
	case "http", "https":
		if name == "" && password == "" {
			return e, nil
		}
		user, err := url.PathUnescape(name)
		if err != nil {
			return endpoint{}, errors.New("the proxy's user has a percent sign that begins no escape; write %25 for it")
		}
		secret, err := url.PathUnescape(password)
		if err != nil {
			return endpoint{}, errors.New("the proxy's password has a percent sign that begins no escape; write %25 for it")
		}
		if e.auth, err = basicAuth(user, secret, inUTF8); err != nil {
			return endpoint{}, fmt.Errorf("the proxy %s: %w", e.shown, err)
		}
	case "socks5", "socks5h":
		if name != "" || password != "" {
			e.url = u.Scheme() + "://" + name + ":" + password + "@" + u.Host()
		}
	default:
		return endpoint{}, fmt.Errorf("a proxy cannot have the scheme %q; %s", u.Scheme(), howToWriteProxies)
	}
	return e, nil
}
