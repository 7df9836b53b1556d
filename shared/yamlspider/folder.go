package yamlspider

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/skitterhq/skitter/shared/spider"
)

// A Definition is a YAML spider with its text.
type Definition struct {
	// File is the file's name, such as "spiders/shop.yaml".
	File string

	// Text is what stands in it.
	Text []byte

	// Spider is what it says.
	Spider spider.Spider
}

// ending is that of the files that are read.
const ending = ".yaml"

// ReadFolder reads the .yaml files at the top of a folder, in the order of their
// names. A file is named after its spider, so that a name leads to its file:
// shop.yaml has the spider shop. The error has the mistakes of all files, and
// the definitions are those without any. A nil file system has none.
func ReadFolder(fsys fs.FS, folder string) ([]Definition, error) {
	if fsys == nil {
		return nil, nil
	}
	entries, err := fs.ReadDir(fsys, folder)
	if err != nil {
		return nil, fmt.Errorf("reading YAML spiders: %w", err)
	}
	var all []Definition
	var errs []error
	for _, e := range entries {
		name := e.Name()
		switch path.Ext(name) {
		case ending:
			d, err := ReadNamed(fsys, folder, strings.TrimSuffix(name, ending))
			if err != nil {
				errs = append(errs, err)
				continue
			}
			all = append(all, d)
		case ".yml":
			errs = append(errs, fmt.Errorf("%s: call it %s: only files of that ending are read", path.Join(folder, name), strings.TrimSuffix(name, ".yml")+ending))
		}
	}
	return all, errors.Join(errs...)
}

// ReadNamed reads the file of one spider in a folder. The error of a file that
// is not there wraps [fs.ErrNotExist].
func ReadNamed(fsys fs.FS, folder, name string) (Definition, error) {
	d := Definition{File: path.Join(folder, name+ending)}
	file, err := fsys.Open(d.File)
	if err != nil {
		if _, there := fs.Lstat(fsys, d.File); there == nil && errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s: it is a link to a file that is not there", d.File)
		}
		return d, err
	}
	defer func() { _ = file.Close() }()
	if d, err = Read(d.File, file); err == nil && d.Spider.Name != name {
		err = fmt.Errorf("%s: its spider is named %s: a file is named after its spider, so call it %s", d.File, d.Spider.Name, d.Spider.Name+ending)
	}
	return d, err
}

// Read reads one spider. Name is the file's, for errors. Of a text that is too
// long no more is read than shows that.
func Read(name string, r io.Reader) (Definition, error) {
	d := Definition{File: name}
	var err error
	if d.Text, err = io.ReadAll(io.LimitReader(r, MaxSize+1)); err != nil {
		return d, fmt.Errorf("reading %s: %w", name, err)
	}
	d.Spider, err = Load(name, d.Text)
	return d, err
}
