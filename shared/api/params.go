package api

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxBody is the longest body in bytes: 1 MiB. A job's specification is small,
// and no endpoint takes files.
const maxBody = 1 << 20

// params are a request's parameters by name. Where a name is given more than
// once the first value counts, as in scrapyd.
type params map[string][]string

// readParams reads the query and the form. A name in the form replaces the
// query's, as Twisted has it.
func readParams(w http.ResponseWriter, r *http.Request) (params, error) {
	p, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, refuse("the query is invalid: %v", err)
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	err = r.ParseForm() // the next call would hide its error
	if err == nil {
		err = r.ParseMultipartForm(maxBody)
	}
	if tooLong := new(http.MaxBytesError); errors.As(err, &tooLong) {
		return nil, &failure{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is longer than %d bytes", maxBody)}
	}
	if err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return nil, refuse("the form is invalid: %v", err)
	}
	maps.Copy(p, r.PostForm)
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if !utf8.ValidString(name) || slices.ContainsFunc(p[name], func(v string) bool { return !utf8.ValidString(v) }) {
			return nil, refuse("%s is invalid: it is not UTF-8", strings.ToValidUTF8(name, "\uFFFD"))
		}
	}
	return params(p), nil
}

// take returns a parameter's first value and whether it was given, and removes
// the parameter.
func (p params) take(name string) (string, bool) {
	values := p[name]
	delete(p, name)
	if len(values) == 0 {
		return "", false
	}
	return values[0], true
}

// need is take for a parameter that has to be given.
func (p params) need(name string) (string, error) {
	value, ok := p.take(name)
	if !ok {
		return "", refuse("'%s' parameter is required", name)
	}
	return value, nil
}

// project takes the parameter project, which has to name the service's own.
func (a *API) project(p params) error {
	name, err := p.need("project")
	if err != nil {
		return err
	}
	return a.ours(name)
}

func (a *API) ours(project string) error {
	if project != a.Project {
		return refuse("project '%s' not found", project)
	}
	return nil
}

// anyProject is project where it may be left out.
func (a *API) anyProject(p params) error {
	if name, ok := p.take("project"); ok {
		return a.ours(name)
	}
	return nil
}

// version takes the parameter _version; empty means the one there is.
func (a *API) version(p params) error {
	if v, _ := p.take("_version"); v != "" && v != a.Version {
		return refuse("version '%s' not found", v)
	}
	return nil
}
