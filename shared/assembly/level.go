package assembly

import (
	"context"
	"log/slog"
)

// leveled is a log handler that lets nothing below a level through: each job
// has its own LOG_LEVEL, and all share the program's log.
type leveled struct {
	slog.Handler
	min slog.Level
}

// AtLevel returns a logger that lets nothing below a level through.
func AtLevel(log *slog.Logger, min slog.Level) *slog.Logger {
	return slog.New(leveled{log.Handler(), min})
}

func (h leveled) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= h.min && h.Handler.Enabled(ctx, l)
}

func (h leveled) WithAttrs(attrs []slog.Attr) slog.Handler {
	return leveled{h.Handler.WithAttrs(attrs), h.min}
}

func (h leveled) WithGroup(name string) slog.Handler {
	return leveled{h.Handler.WithGroup(name), h.min}
}
