package shared_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// layers is the import order: a package imports only packages that stand
// before it. See docs/architecture.md, "Folders".
var layers = strings.Fields(`
	shared/topology shared/weburl shared/spelling shared/settings shared/crawl shared/message
	shared/stats shared/meter shared/extract shared/sitemap shared/robots shared/cookies shared/loader shared/downloader shared/spider shared/pipeline shared/extension
	shared/queue shared/blob shared/frontier shared/slotrows shared/waiting shared/origins shared/jars
	shared/dead shared/jobs shared/items shared/pages shared/projects shared/schedules shared/events
	shared/scheduler shared/slots
	shared/httpcache shared/handlers shared/downloadermw shared/spidermw shared/pipelines shared/legs shared/yamlspider shared/extensions shared/feeds shared/project
	shared/engine
	shared/memory shared/local shared/aws
	shared/assembly shared/lambdahost shared/api shared/sqspoll shared/runtimeapi shared/site
	spiders
	functions cmd infra events
`)

// fences say which packages alone may import a module.
var fences = []struct {
	module  string
	allowed []string
}{
	{"github.com/aws/aws-sdk-go-v2", []string{"shared/aws", "shared/sqspoll", "functions", "cmd"}},
	{"github.com/aws/aws-lambda-go", []string{"shared/lambdahost", "functions", "cmd"}},
	{"github.com/aws/aws-cdk-go", []string{"infra"}},
	{"modernc.org/sqlite", []string{"shared/local"}},
	{"github.com/spf13/cobra", []string{"cmd"}},
}

const module = "github.com/skitterhq/skitter/"

type goPackage struct {
	ImportPath string
	Imports    []string
}

func TestImportsKeepTheOrderOfTheLayers(t *testing.T) {
	for _, p := range listPackages(t) {
		for _, problem := range problems(p) {
			t.Error(problem)
		}
	}
}

func TestAnImportTurnedRoundIsFound(t *testing.T) {
	for _, p := range []goPackage{
		{module + "shared/crawl", []string{module + "shared/engine"}},
		{module + "shared/frontier", []string{module + "shared/scheduler"}},
		{module + "shared/engine", []string{module + "spiders/shop"}},
		{module + "shared/engine", []string{"modernc.org/sqlite"}},
		{module + "shared/unheard-of", nil},
		{module + "shared/engine", []string{module + "shared/queue/queuetest"}},
	} {
		if len(problems(p)) == 0 {
			t.Errorf("%s importing %v: no problem found", p.ImportPath, p.Imports)
		}
	}
}

// problems says what is wrong with a package's imports.
func problems(p goPackage) []string {
	name := strings.TrimPrefix(p.ImportPath, module)
	if name == "shared" || testsOnly(name) {
		return nil // the folder of packages has this test alone
	}
	own := layerOf(name)
	if own < 0 {
		return []string{name + " has no layer: give it its place in the list"}
	}
	var found []string
	for _, imported := range p.Imports {
		if other, ok := strings.CutPrefix(imported, module); ok {
			switch {
			case testsOnly(other):
				found = append(found, name+" imports "+other+", which is for tests only")
			case layerOf(other) > own:
				found = append(found, name+" imports "+other+", which stands after it")
			case strings.HasPrefix(other, "spiders") && !strings.HasPrefix(name, "spiders") && layerOf(name) < layerOf("functions"):
				found = append(found, name+" imports "+other+": only the programs may")
			}
		}
		for _, f := range fences {
			if (imported == f.module || strings.HasPrefix(imported, f.module+"/")) && !slices.ContainsFunc(f.allowed, within(name)) {
				found = append(found, name+" imports "+imported+": only "+strings.Join(f.allowed, ", ")+" may")
			}
		}
	}
	return found
}

// testsOnly reports whether a package is for tests and so outside the layers.
func testsOnly(name string) bool { return strings.HasSuffix(name, "test") }

// within tells whether a folder is a package's own or holds it.
func within(name string) func(string) bool {
	return func(folder string) bool { return name == folder || strings.HasPrefix(name, folder+"/") }
}

// layerOf is the place of a package in the order, -1 if it has none. A package
// inside another's folder has that one's place.
func layerOf(name string) int { return slices.IndexFunc(layers, within(name)) }

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []goPackage
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		all = append(all, p)
	}
	if len(all) < 20 {
		t.Fatalf("go list found %d packages only", len(all))
	}
	return all
}
