// Package newspider writes new spiders into a project from templates: what
// `skitter new` does, and Scrapy's genspider.
//
// A spider in Go gets a folder of its own under spiders/, with a test on saved
// pages, and its place in the list of spiders/project.go. One in YAML is a file
// in spiders/.
package newspider

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/weburl"
)

// Options say what is written.
type Options struct {
	// Root is the folder of the project, which has spiders/ and, for spiders
	// in Go, go.mod.
	Root string

	// Name is the spider's: letters, digits and . _ -
	Name string

	// URL is the page that it starts with, absolute.
	URL string

	// Template is one of those of [Templates].
	Template string

	// Taken are the names of the spiders that there are.
	Taken []string

	// Force overwrites files that are there.
	Force bool
}

// A Result is what was written.
type Result struct {
	// Files are the files, relative to the project's folder, the spider's own
	// first.
	Files []string

	// Listed is true if spiders/project.go has the spider now.
	Listed bool

	// Todo says what is to be done by hand, and why, if a spider in Go is not
	// listed; else it is empty.
	Todo string
}

// projectFile is where the spiders are listed.
const projectFile = "spiders/project.go"

// Create writes a spider. Everything that can be wrong is found before the first
// file is written.
func Create(o Options) (Result, error) {
	t, err := find(o.Template)
	if err != nil {
		return Result{}, err
	}
	if err := spider.CheckName(o.Name); err != nil {
		return Result{}, fmt.Errorf("spider %.40q: %w", o.Name, err)
	}
	d, err := o.data(t)
	if err != nil {
		return Result{}, err
	}
	files, err := t.render(d)
	if err != nil {
		return Result{}, err
	}
	if err := o.checkFiles(files); err != nil {
		return Result{}, err
	}
	var listed edit
	if t.inGo {
		listed = o.list(d)
	}
	var r Result
	for _, f := range files {
		if err := writeFile(filepath.Join(o.Root, filepath.FromSlash(f.name)), f.text); err != nil {
			return r, err
		}
		r.Files = append(r.Files, f.name)
	}
	switch {
	case !t.inGo:
		return r, nil
	case listed.why != nil:
		r.Todo = fmt.Sprintf("%v: import %q there, and put %s into Project's Spiders", listed.why, d.Import, d.Package+".Spider()")
		return r, nil
	case listed.text != nil:
		if err := writeFile(filepath.Join(o.Root, projectFile), listed.text); err != nil {
			return r, err
		}
		r.Files = append(r.Files, projectFile)
	}
	r.Listed = true
	return r, nil
}

// data is what the templates are filled in with.
func (o Options) data(t template) (data, error) {
	u, err := weburl.Parse(o.URL)
	if err != nil {
		return data{}, err
	}
	d := data{Name: o.Name, URL: u.String(), SitemapURL: u.String(), Domain: strings.Trim(u.Hostname(), "[]")}
	if u.Path() == "/" && u.Query() == "" {
		d.SitemapURL = u.Origin() + "/robots.txt" // it names the sitemaps
	}
	if !t.inGo {
		return d, nil
	}
	module, err := moduleOf(o.Root)
	if err != nil {
		return data{}, err
	}
	d.Package = packageName(o.Name, module+"/spiders", filepath.Join(o.Root, projectFile))
	d.Import = module + "/spiders/" + d.Package
	return d, nil
}

// checkFiles refuses what would overwrite files, and a name that a spider
// somewhere else has.
func (o Options) checkFiles(files []file) error {
	var there []string
	for _, f := range files {
		_, err := os.Lstat(filepath.Join(o.Root, filepath.FromSlash(f.name)))
		switch {
		case err == nil:
			there = append(there, f.name)
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	own := len(there) > 0 && there[0] == files[0].name
	for _, name := range o.Taken {
		if name == o.Name && !own {
			return fmt.Errorf("there is a spider %s already, and it is not in %s: give this one another name", name, files[0].name)
		}
	}
	if len(there) > 0 && !o.Force {
		return fmt.Errorf("%s is there already: --force overwrites it", strings.Join(there, ", "))
	}
	return nil
}

// writeFile writes a file as a whole: beside its place, and then renamed.
func writeFile(name string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	part := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+".part")
	if err := os.WriteFile(part, text, mode); err != nil {
		_ = os.Remove(part) // it may not be there
		return err
	}
	if err := os.Rename(part, name); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return nil
}
