package handlers

// Reasons of the failures of this package ([crawl.Failure]). Stats, errbacks
// and dead letters show them, so they never change. Package downloadermw adds
// "bad-encoding", of bodies that cannot be unpacked, and "redirect-max-times".
const (
	// ReasonBadRequest: such a request cannot be sent: its method, a header,
	// its proxy or its bind address is none.
	ReasonBadRequest = "bad-request"
	// ReasonBadResponse: the server's answer is no HTTP, not even to a
	// browser: two lengths that differ, an unknown transfer coding, headers of
	// more than [MaxHeaderBytes], and the like.
	ReasonBadResponse = "bad-response"
	// ReasonBadURL: the URL cannot be parsed.
	ReasonBadURL = "bad-url"
	// ReasonCertificate: the server's certificate is not good. Trying again
	// does not help.
	ReasonCertificate = "certificate"
	// ReasonConnect: nobody took the connection: refused, unreachable.
	ReasonConnect = "connect"
	// ReasonCredentials: the request was to be signed, and there are no
	// credentials, or they do not say for which region.
	ReasonCredentials = "credentials"
	// ReasonDataloss: the body ended before its end.
	ReasonDataloss = "dataloss"
	// ReasonDNS: the host's name has no address.
	ReasonDNS = "dns"
	// ReasonForbiddenAddress: the guard does not let the address be dialled.
	ReasonForbiddenAddress = "forbidden-address"
	// ReasonForbiddenScheme: a page of the web names what only this machine or
	// this project has. It is the reason of a drop.
	ReasonForbiddenScheme = "forbidden-scheme"
	// ReasonNoFile: there is no such file, it is a folder, or may not be read.
	ReasonNoFile = "no-file"
	// ReasonProxy: the request's proxy was not reached, does not know the
	// credentials, or does not connect to the server.
	ReasonProxy = "proxy"
	// ReasonReset: the connection ended before the answer's headers.
	ReasonReset = "reset"
	// ReasonTimeout: looking up the host, connecting, the answer's first byte
	// or the whole fetch took too long; the message says which.
	ReasonTimeout = "timeout"
	// ReasonTLS: the handshake failed, but not for the certificate.
	ReasonTLS = "tls"
	// ReasonTooLarge: the body is larger than the limit.
	ReasonTooLarge = "too-large"
	// ReasonUnknownHandler: the request names a handler that is not there.
	ReasonUnknownHandler = "unknown-handler"
	// ReasonUnsupportedScheme: no handler is there for the URL's scheme.
	ReasonUnsupportedScheme = "unsupported-scheme"
)

// Reasons returns all of them, in alphabetical order.
func Reasons() []string {
	return []string{
		ReasonBadRequest, ReasonBadResponse, ReasonBadURL, ReasonCertificate, ReasonConnect, ReasonCredentials, ReasonDataloss, ReasonDNS,
		ReasonForbiddenAddress, ReasonForbiddenScheme, ReasonNoFile, ReasonProxy, ReasonReset, ReasonTimeout, ReasonTLS, ReasonTooLarge,
		ReasonUnknownHandler, ReasonUnsupportedScheme,
	}
}
