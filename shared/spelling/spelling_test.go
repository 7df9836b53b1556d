package spelling_test

import (
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/spelling"
)

func TestNearest(t *testing.T) {
	known := []string{"allow", "deny_domains", "restrict_css", "DOWNLOAD_DELAY", "a_b"}
	for name, want := range map[string]string{
		"alow": "allow", "allowed": "allow", "dney": "", "denydomains": "deny_domains", "deny-domains": "deny_domains",
		"Restrict-CSS": "restrict_css", "restrict_xpath": "", "download_dely": "DOWNLOAD_DELAY", "DOWNLOADDELAY": "DOWNLOAD_DELAY",
		"restrict": "restrict_css", "den": "deny_domains", "de": "",
		"ab": "a_b", "ax": "", "xyz": "", "": "", "something else": "",
		strings.Repeat("allow", 13): "",
	} {
		if got := spelling.Nearest(name, known); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
	if got := spelling.Nearest("say", []string{"sayings", "sayings-yaml"}); got != "" {
		t.Errorf("the beginning of two: got %q", got)
	}
	if got := spelling.Nearest("b1", []string{"a1b1", "b1x", "b1y"}); got != "" {
		t.Errorf("a letter of two may not be wrong, and got %q", got)
	}
	if got := spelling.Nearest("long1", []string{"long2", "long3"}); got != "long2" {
		t.Errorf("of two that are as near got %q", got)
	}
}
