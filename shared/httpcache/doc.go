// Package httpcache keeps answers in the blob store, and says by the rules of
// HTTP (RFC 9111) or without any when they may be given again. It opens no
// connection: the middleware of package downloadermw asks it before it lets a
// request through.
//
// An answer rests as it came over the wire, in one blob, head and body together.
// Its key is made of the policy, the fingerprint of the request, and, where the
// answer depends on headers of the request, a hash of those. The cache is shared
// by jobs and processes: the last one that writes wins, and each blob is whole.
package httpcache
