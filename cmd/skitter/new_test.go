package main

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/project/newspider"
	"github.com/skitterhq/skitter/shared/site"
)

// TestTemplatesCrawlTheBuiltInSite writes a spider of each template into a
// project in a module of its own, runs the tests that come with them, checks
// their contracts, and crawls the built-in site with them as they are.
func TestTemplatesCrawlTheBuiltInSite(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	const pages = 40
	shop, err := site.New(site.Options{Pages: pages})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(shop)
	defer srv.Close()
	root := ownProject(t)

	starts := map[string]string{
		"basic": "/quotes/page/1/", "crawl": "/", "sitemap": "/", "feed": "/feed.xml", "yaml": "/quotes/page/1/",
	}
	for _, template := range newspider.Templates() {
		// Names that need some care: a Go keyword, dashes, a name in use.
		name := map[string]string{"basic": "go", "crawl": "My-Shop.2", "sitemap": "spidermw", "feed": "3news"}[template.Name]
		if name == "" {
			name = template.Name
		}
		made, err := newspider.Create(newspider.Options{
			Root: root, Name: name, URL: srv.URL + starts[template.Name], Template: template.Name,
		})
		if err != nil || made.Todo != "" {
			t.Fatalf("template %s: %v %s", template.Name, err, made.Todo)
		}
	}
	inProject(t, root, "go", "vet", "./...")
	inProject(t, root, "go", "test", "./spiders/...")
	inProject(t, root, "go", "build", "-o", "mine", ".")

	var titles, products, newest []string
	for page := range 10 {
		titles = append(titles, fmt.Sprintf(`{"title":"Quotations, page %d","url":"%s/quotes/page/%[1]d/"}`, page+1, srv.URL))
	}
	for n := range pages {
		pence := 500 + n*137%9000
		products = append(products, fmt.Sprintf(`{"name":"Product %d","price":"£%d.%02d","url":"%s/p/%[1]d"}`, n, pence/100, pence%100, srv.URL))
	}
	newest = slices.Clone(products[pages-20:])
	for name, want := range map[string][]string{"go": titles, "My-Shop.2": products, "spidermw": products, "3news": newest, "yaml": titles} {
		got := strings.Split(strings.TrimSpace(inProject(t, root, "./mine", name)), "\n")
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("spider %s (-want, +got):\n%s", name, diff)
		}
	}
}

// ownSpiders matches what the list of this repository has of its own spiders.
var ownSpiders = regexp.MustCompile(`(?m)^\s*("github.com/skitterhq/skitter/spiders/.*"|\w+\.Spider\(\),)\n`)

// ownProject lays out a project outside of Skitter's repository, which it uses
// as a module.
func ownProject(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS("testdata/project")); err != nil {
		t.Fatal(err)
	}
	repository, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile("../../spiders/project.go")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, "spiders"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "spiders", "project.go"), ownSpiders.ReplaceAll(list, nil), 0o644); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	_, requires, _ := strings.Cut(string(mod), "\nrequire")
	text := "module example.com/mine\n\ngo 1.26.0\n\nrequire github.com/skitterhq/skitter v0.0.0\n\nreplace github.com/skitterhq/skitter => " +
		repository + "\n\nrequire" + requires
	if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile("../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "go.sum"), sum, 0o644); err != nil {
		t.Fatal(err)
	}
	return root
}

// inProject runs a command there, offline, and returns what it prints.
func inProject(t *testing.T, root, name string, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = root, &out, &errs
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %v: %v\n%s%s", name, args, err, &out, &errs)
	}
	return out.String()
}
