package newspider

import (
	"bytes"
	"embed"
	"fmt"
	"go/format"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	texttemplate "text/template"

	"github.com/skitterhq/skitter/shared/yamlspider"
)

//go:embed templates
var texts embed.FS

// A Template is a kind of new spiders.
type Template struct {
	// Name is what [Options] choose it by.
	Name string

	// Doc says in a line what its spiders do.
	Doc string
}

// template is a Template and what it is made of.
type template struct {
	Template
	inGo bool
}

func templates() []template {
	return []template{
		{Template{"basic", "a callback that reads pages and goes on to the next"}, true},
		{Template{"crawl", "links are followed by rules (Scrapy's CrawlSpider)"}, true},
		{Template{"sitemap", "the pages that sitemaps list; URL is a sitemap, or the site"}, true},
		{Template{"feed", "the pages that a feed leads to; URL is RSS, Atom or JSON Feed"}, true},
		{Template{"yaml", "a file in YAML, without Go"}, false},
	}
}

// Templates lists the templates; the first is the default.
func Templates() []Template {
	var list []Template
	for _, t := range templates() {
		list = append(list, t.Template)
	}
	return list
}

// Dump returns the text of a template's spider.
func Dump(name string) (string, error) {
	t, err := find(name)
	if err != nil {
		return "", err
	}
	text, err := fs.ReadFile(texts, path.Join("templates", t.Name, t.source()))
	return string(text), err
}

func find(name string) (template, error) {
	all := templates()
	k := slices.IndexFunc(all, func(t template) bool { return t.Name == name })
	if k >= 0 {
		return all[k], nil
	}
	var names []string
	for _, t := range all {
		names = append(names, t.Name)
	}
	return template{}, fmt.Errorf("there is no template %q; there are %s", name, strings.Join(names, ", "))
}

// source is the file of the spider itself.
func (t template) source() string {
	if t.inGo {
		return "spider.go.tmpl"
	}
	return "spider.yaml.tmpl"
}

// data is what a template is filled in with.
type data struct {
	Name, URL, SitemapURL, Domain string
	// Package is that of a spider in Go, and Import its path.
	Package, Import string
}

// Schema is where the JSON Schema of YAML spiders is.
func (data) Schema() string { return yamlspider.SchemaURL }

// A file is one that is to be written; its name is relative to the project's
// folder.
type file struct {
	name string
	text []byte
}

// render fills in a template: the spider's own file comes first.
func (t template) render(d data) ([]file, error) {
	folder := path.Join("templates", t.Name)
	entries, err := fs.ReadDir(texts, folder)
	if err != nil {
		return nil, err
	}
	var files []file
	for _, e := range entries {
		text, err := fs.ReadFile(texts, path.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		f := file{name: t.place(e.Name(), d), text: text}
		if strings.HasSuffix(e.Name(), ".tmpl") {
			if f.text, err = fill(e.Name(), string(text), d); err != nil {
				return nil, err
			}
		}
		if e.Name() == t.source() {
			files = slices.Insert(files, 0, f)
		} else {
			files = append(files, f)
		}
	}
	return files, nil
}

// place is where a template's file goes.
func (t template) place(name string, d data) string {
	switch name {
	case "spider.yaml.tmpl":
		return "spiders/" + d.Name + ".yaml"
	case "spider.go.tmpl":
		return path.Join("spiders", d.Package, d.Package+".go")
	case "test.go.tmpl":
		return path.Join("spiders", d.Package, d.Package+"_test.go")
	}
	return path.Join("spiders", d.Package, "testdata", name)
}

func fill(name, text string, d data) ([]byte, error) {
	t, err := texttemplate.New(name).Funcs(texttemplate.FuncMap{"go": strconv.Quote, "yaml": quoteYAML}).Parse(text)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, d); err != nil {
		return nil, err
	}
	if strings.HasSuffix(name, ".go.tmpl") {
		return format.Source(b.Bytes())
	}
	return b.Bytes(), nil
}

// quoteYAML writes a text of one line as YAML reads it, whatever is in it.
func quoteYAML(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
