package engine

import (
	"log/slog"

	"github.com/skitterhq/skitter/shared/crawl"
)

// logError logs an error, and where it came from if it is a panic.
func (e *Engine) logError(log *slog.Logger, msg string, err error, args ...any) {
	log.Error(msg, append(args, crawl.LogArgs(err)...)...)
}
