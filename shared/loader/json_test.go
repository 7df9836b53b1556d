package loader_test

import (
	"math"
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/loader"
)

func TestLoadRefusesWhatHasNoJSON(t *testing.T) {
	for name, value := range map[string]any{
		"a channel": make(chan int), "a function": func() {}, "not a number": math.NaN(), "a channel in a map": map[string]any{"c": make(chan int)},
	} {
		for _, kept := range []func() (any, error){
			func() (any, error) { return loaded[crawl.Item](value) },
			func() (any, error) { return loaded[map[string]any](value) },
		} {
			if _, err := kept(); err == nil || !strings.Contains(err.Error(), "field c") || !strings.Contains(err.Error(), "which is nothing in JSON") {
				t.Errorf("%s: got %v", name, err)
			}
		}
	}
}

// loaded is an item whose field c has a value.
func loaded[T any](value any) (T, error) {
	l := loader.MustFor[T](loader.Spec{Fields: map[string]loader.Field{"c": {In: loader.Unique()}}}).New(page())
	l.AddValue("c", value)
	return l.Load()
}
