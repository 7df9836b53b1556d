package engine

import (
	"errors"
	"log/slog"

	"github.com/skitterhq/skitter/shared/crawl"
)

// logError logs an error, and where it came from if it is a panic.
func (e *Engine) logError(log *slog.Logger, msg string, err error, args ...any) {
	args = append(args, "err", err)
	var broke *crawl.PanicError
	if errors.As(err, &broke) {
		args = append(args, "at", broke.At(), "stack", string(broke.Stack))
	}
	log.Error(msg, args...)
}
