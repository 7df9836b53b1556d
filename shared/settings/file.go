package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/goccy/go-yaml"
)

// ReadFile reads a project file, skitter.yaml:
//
//	project: quotes
//	settings:
//	  DOWNLOAD_DELAY: 2s
//
// It returns the layer of the settings, named after the file, and the project's
// name, "" if the file gives none. The error tells the line of what is no YAML
// or no known key; of an absent file it is [io/fs.ErrNotExist]. The values are
// looked at by [Resolve].
func ReadFile(path string) (Layer, string, error) {
	layer := Layer{Name: filepath.Base(path)}
	data, err := os.ReadFile(path)
	if err != nil {
		return layer, "", fmt.Errorf("reading the project file: %w", err)
	}
	var file struct {
		Project  string         `yaml:"project"`
		Settings map[string]any `yaml:"settings"`
	}
	dec := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict())
	if err := dec.Decode(&file); err != nil && !errors.Is(err, io.EOF) {
		return layer, "", fmt.Errorf("reading the project file %s: %w", path, err)
	}
	if err := dec.Decode(new(any)); !errors.Is(err, io.EOF) {
		return layer, "", fmt.Errorf("reading the project file %s: it holds more than one YAML document", path)
	}
	layer.Values = file.Settings
	return layer, file.Project, nil
}
