package assembly

import (
	"context"
	"io"
	"sync"

	"github.com/skitterhq/skitter/shared/blob"
	"github.com/skitterhq/skitter/shared/local"
)

// StateDir is where the state of one machine lies if nobody says otherwise.
const StateDir = ".skitter"

// stateBlobs is the blob store of a folder of state, which is opened, and made,
// when something is first asked of it: a Single that has no HTTP cache leaves no
// trace. It is closed with the process.
type stateBlobs struct {
	open func() (blob.Store, error)
}

func newStateBlobs(dir string) stateBlobs {
	return stateBlobs{sync.OnceValues(func() (blob.Store, error) {
		store, err := local.Open(dir, local.Options{})
		if err != nil {
			return nil, err
		}
		return store.Blobs(), nil
	})}
}

func (s stateBlobs) Put(ctx context.Context, key string, data []byte) error {
	b, err := s.open()
	if err != nil {
		return err
	}
	return b.Put(ctx, key, data)
}

func (s stateBlobs) PutReader(ctx context.Context, key string, r io.Reader) error {
	b, err := s.open()
	if err != nil {
		return err
	}
	return b.PutReader(ctx, key, r)
}

func (s stateBlobs) Get(ctx context.Context, key string, offset, length int64) ([]byte, error) {
	b, err := s.open()
	if err != nil {
		return nil, err
	}
	return b.Get(ctx, key, offset, length)
}

func (s stateBlobs) Delete(ctx context.Context, key string) error {
	b, err := s.open()
	if err != nil {
		return err
	}
	return b.Delete(ctx, key)
}

func (s stateBlobs) DeletePrefix(ctx context.Context, prefix string) error {
	b, err := s.open()
	if err != nil {
		return err
	}
	return b.DeletePrefix(ctx, prefix)
}

func (s stateBlobs) List(ctx context.Context, prefix, after string, limit int) ([]string, error) {
	b, err := s.open()
	if err != nil {
		return nil, err
	}
	return b.List(ctx, prefix, after, limit)
}
