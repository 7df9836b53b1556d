package handlers_test

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/settings"
)

func newHandler(t testing.TB, opts handlers.Options) *handlers.HTTPHandler {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	h, err := handlers.HTTP(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

// with resolves settings that differ from the defaults.
func with(t testing.TB, values map[string]any) settings.Settings {
	s, err := settings.Resolve(settings.Layer{Name: "test", Values: values})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// reason returns the reason of a failure, or what else the error is.
func reason(err error) string {
	var failure *crawl.Failure
	if errors.As(err, &failure) {
		return failure.Reason
	}
	if err != nil {
		return "not a failure: " + err.Error()
	}
	return ""
}
