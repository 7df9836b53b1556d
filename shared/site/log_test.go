package site_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skitterhq/skitter/shared/site"
)

func TestLog(t *testing.T) {
	t.Run("tells what was asked", func(t *testing.T) {
		s := newSite(t, site.Options{})
		r := httptest.NewRequest(http.MethodHead, "http://Shop.test:81/p/1?a=b", nil)
		r.Header.Set("User-Agent", "spider/1")
		s.ServeHTTP(httptest.NewRecorder(), r)
		get(s, "/nowhere")
		log := s.Log()
		if len(log) != 2 {
			t.Fatalf("got %+v, want two entries", log)
		}
		for i, entry := range log {
			if entry.Start.IsZero() || entry.End.Before(entry.Start) || i > 0 && entry.Start.Before(log[i-1].End) {
				t.Errorf("entry %d lasts from %v to %v", i, entry.Start, entry.End)
			}
			log[i].Start, log[i].End = time.Time{}, time.Time{}
		}
		want := []site.Entry{
			{Method: "HEAD", Host: "shop.test:81", Path: "/p/1", Query: "a=b", UserAgent: "spider/1", Status: 200},
			{Method: "GET", Host: "shop.test", Path: "/nowhere", Status: 404},
		}
		if !reflect.DeepEqual(log, want) {
			t.Errorf("got %+v\nwant %+v", log, want)
		}
	})

	t.Run("shows what is being served", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, site.Options{Latency: time.Second})
			done := make(chan struct{})
			go func() {
				defer close(done)
				get(s, "/p/1")
			}()
			synctest.Wait()
			if log := s.Log(); len(log) != 1 || !log[0].End.IsZero() || log[0].Status != 0 {
				t.Errorf("got %+v, want an entry without end and status", log)
			}
			<-done
		})
	})

	t.Run("cuts what is long", func(t *testing.T) {
		s := newSite(t, site.Options{})
		get(s, "/"+strings.Repeat("x", 300))
		if got := len(s.Log()[0].Path); got != 256 {
			t.Errorf("the path has %d bytes, want 256", got)
		}
	})

	for _, requests := range []int{2, 3, 4, 8} {
		t.Run(fmt.Sprintf("keeps the last three of %d", requests), func(t *testing.T) {
			s := newSite(t, site.Options{})
			s.LimitLog(3)
			get(s, "/p/999") // a reset comes before, so that numbers do not begin at 0
			s.Reset()
			var want []string
			for n := range requests {
				want = append(want, fmt.Sprintf("/p/%d", n))
				get(s, want[n])
			}
			want = want[max(0, requests-3):]
			var got []string
			for _, entry := range s.Log() {
				got = append(got, entry.Path)
				if entry.Status != http.StatusOK {
					t.Errorf("%s has status %d, want 200", entry.Path, entry.Status)
				}
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}

	t.Run("leaves alone what took an entry's place", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, site.Options{})
			s.LimitLog(1)
			done := make(chan struct{})
			go func() {
				defer close(done)
				get(s, "/slow?ms=1000")
			}()
			synctest.Wait()
			get(s, "/nowhere")
			<-done
			if log := s.Log(); len(log) != 1 || log[0].Path != "/nowhere" || log[0].Status != 404 || log[0].End != log[0].Start {
				t.Errorf("got %+v, want /nowhere as it was", log)
			}
		})
	})
}
