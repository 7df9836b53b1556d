package local

import (
	"context"
	"errors"

	"github.com/skitterhq/skitter/shared/local/internal/sqlite"
)

// readers are a process's connections for reads that take long, or that nobody
// waits for: such a read holds up no writer, and no writer holds it up. Short
// reads are done by the writer, see writer.read.
type readers struct {
	file *file
	idle chan *sqlite.Conn
}

// readerCount is how many long reads run at once.
const readerCount = 2

// How much of the database a connection keeps in memory: 16 MiB for the one
// that does nearly everything, 2 MiB, SQLite's default, for the others.
const (
	writerCacheKiB = 16 << 10
	readerCacheKiB = 2 << 10
)

func openReaders(ctx context.Context, file *file) (*readers, error) {
	r := &readers{file: file, idle: make(chan *sqlite.Conn, readerCount)}
	for range readerCount {
		conn, err := openConn(ctx, file.path, readerCacheKiB)
		if err != nil {
			return nil, errors.Join(err, r.close(len(r.idle)))
		}
		r.idle <- conn
	}
	return r, nil
}

// do runs a read, again if it finds the database busy.
func (r *readers) do(ctx context.Context, run func(c *sqlite.Conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := r.file.err(); err != nil {
		return err
	}
	var conn *sqlite.Conn
	select {
	case <-ctx.Done():
		return ctx.Err()
	case conn = <-r.idle:
	}
	if conn == nil {
		return ErrClosed
	}
	defer func() { r.idle <- conn }()
	return explain(r.file.path, retry(ctx, func() error { return run(conn) }))
}

// snapshot runs several reads that see one state of the database.
func snapshot(c *sqlite.Conn, run func() error) error {
	if err := c.Stmt(`BEGIN`).Run(); err != nil {
		return err
	}
	err := run()
	return errors.Join(err, c.Stmt(`COMMIT`).Run())
}

// stop waits for the reads under way, and closes the connections.
func (r *readers) stop() error { return r.close(readerCount) }

func (r *readers) close(n int) error {
	var errs []error
	for range n {
		errs = append(errs, (<-r.idle).Close())
	}
	close(r.idle)
	return errors.Join(errs...)
}
