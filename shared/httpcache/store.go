package httpcache

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/skitterhq/skitter/shared/blob"
)

// A Store keeps entries in a blob store. It is safe for concurrent use.
type Store struct {
	Blobs blob.Store
	// Prefix begins every key, without a slash at its end.
	Prefix string
	// Expires is after how long an entry is not found any more; 0 is never.
	Expires time.Duration
	// Gzip packs bodies that get shorter by it.
	Gzip bool
	Now  func() time.Time
}

// A Place is where an answer of a request is kept, as far as a look has shown.
type Place struct {
	key   string
	found string // the key of what was found
	first *Entry // what the key itself has
}

// key is the blob key of a request's fingerprint.
func (s *Store) key(fingerprint string) string {
	return s.Prefix + "/" + fingerprint[:2] + "/" + fingerprint
}

// Look returns what is kept for a request's fingerprint and headers, nil if that
// is nothing, and where an answer is to be kept. With an error, which says that
// the store does not answer or that what is there cannot be read, nothing is
// found, and the place is good all the same.
//
// It is one read, and two where answers differ by headers.
func (s *Store) Look(ctx context.Context, fingerprint string, h http.Header) (*Entry, Place, error) {
	p := Place{key: s.key(fingerprint)}
	first, err := s.read(ctx, p.key)
	if first == nil {
		return nil, p, err
	}
	p.first, p.found = first, p.key
	found := first
	if selection := selectionOf(first.Vary, h); selection != first.selection {
		p.found = variantKey(p.key, selection)
		found, err = s.read(ctx, p.found)
		if found == nil || found.family != first.family {
			return nil, p, err // one of another family was left by answers that are void
		}
	}
	if s.Expires > 0 && s.Now().Sub(found.Received) > s.Expires {
		return nil, p, nil
	}
	return found, p, nil
}

// Keep keeps an answer to a request with these headers, in place of what was
// there. It is one write.
func (s *Store) Keep(ctx context.Context, p Place, h http.Header, e *Entry) error {
	e.selection = selectionOf(e.Vary, h)
	key := p.key
	if p.first != nil && slices.Equal(p.first.Vary, e.Vary) {
		e.family = p.first.family
		if e.selection != p.first.selection {
			key = variantKey(key, e.selection)
		}
	} else {
		e.family = rand.Text()
	}
	data, err := e.encode(key, s.Gzip)
	if err != nil {
		return err
	}
	return s.Blobs.Put(ctx, key, data)
}

// Drop forgets what was found at a place.
func (s *Store) Drop(ctx context.Context, p Place) error { return s.Blobs.Delete(ctx, p.found) }

// Forget forgets all answers to a request: without the first of their family the
// others are found no more.
func (s *Store) Forget(ctx context.Context, fingerprint string) error {
	return s.Blobs.Delete(ctx, s.key(fingerprint))
}

// read reads an entry; nil if there is none that can be read.
func (s *Store) read(ctx context.Context, key string) (*Entry, error) {
	data, err := s.Blobs.Get(ctx, key, 0, -1)
	if errors.Is(err, blob.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	e, err := decode(key, data)
	if err != nil {
		return nil, fmt.Errorf("blob %s: %w", key, err)
	}
	return e, nil
}

func variantKey(key, selection string) string { return key + "-" + selection }

// selectionOf is a hash of what headers have under some names. Only the hash is
// kept: what is selected by may be secret.
func selectionOf(names []string, h http.Header) string {
	if len(names) == 0 {
		return ""
	}
	sum := sha256.New()
	for _, name := range names {
		values := h[http.CanonicalHeaderKey(name)]
		fmt.Fprintf(sum, "%s %t %q\n", name, len(values) > 0, normalized(values))
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// normalized joins the lines of a header and takes the blanks round its commas
// away, which make no difference. Source: RFC 9111, section 4.1.
func normalized(values []string) string {
	parts := strings.Split(strings.Join(values, ","), ",")
	for k, part := range parts {
		parts[k] = strings.TrimSpace(part)
	}
	return strings.Join(parts, ",")
}
