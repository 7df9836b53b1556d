package lambdahost

import (
	"context"
	"io"
	"log/slog"
	"sync/atomic"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

// A Logger writes JSON lines in Lambda's format, each with the ID of the
// invocation that is under way: an environment works one at a time, and much of
// what it logs is far from the invocation's context.
type Logger struct {
	slog.Handler
	id *atomic.Value
}

// NewLogger returns a logger that writes to w.
func NewLogger(w io.Writer) *Logger {
	return &Logger{
		Handler: slog.NewJSONHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: lambdacontext.ReplaceAttr}),
		id:      new(atomic.Value),
	}
}

// RequestID notes which invocation is under way.
func (l *Logger) RequestID(id string) { l.id.Store(id) }

// Handle implements [slog.Handler].
func (l *Logger) Handle(ctx context.Context, r slog.Record) error {
	if id, ok := l.id.Load().(string); ok {
		r.AddAttrs(slog.String("requestId", id))
	}
	return l.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (l *Logger) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &Logger{l.Handler.WithAttrs(attrs), l.id}
}

// WithGroup implements [slog.Handler].
func (l *Logger) WithGroup(name string) slog.Handler {
	return &Logger{l.Handler.WithGroup(name), l.id}
}
