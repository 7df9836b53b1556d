package project_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skitterhq/skitter/shared/project"
	"github.com/skitterhq/skitter/shared/spider"
)

func TestTheErrorOfARegistryHasTheMistakesOfGoAndOfYAML(t *testing.T) {
	parse := func(context.Context, *spider.Page, *spider.Output) error { return nil }
	good := "name: good\nstart_urls: [http://example.com/]\nparse:\n- regex_links: {}\n"
	p := project.Project{
		Spiders: []spider.Spider{{Name: "no callback"}, {Name: "good", Parse: parse}},
		Definitions: fstest.MapFS{
			"good.yaml": {Data: []byte(good)}, "broken.yaml": {Data: []byte("name: broken\nlegs: 5\n")}, "late.yml": {},
		},
	}
	registry, err := p.Registry()
	if err == nil || registry != nil {
		t.Fatalf("got %v, %v", registry, err)
	}
	for _, want := range []string{`spider "no callback"`, `spider "good": there are two of that name`, "broken.yaml", "late.yml"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not tell of %s:\n%v", want, err)
		}
	}

	p = project.Project{Spiders: []spider.Spider{{Name: "go", Parse: parse}}, Definitions: fstest.MapFS{"good.yaml": {Data: []byte(good)}}}
	if registry, err = p.Registry(); err != nil || strings.Join(registry.Names(), " ") != "go good" {
		t.Errorf("got %v, %v", registry, err)
	}
}
