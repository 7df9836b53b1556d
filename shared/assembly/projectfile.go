package assembly

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/skitterhq/skitter/shared/project"
	"github.com/skitterhq/skitter/shared/settings"
)

// ProjectFile reads the settings of the project file, skitter.yaml, in a folder;
// where there is none, it has no layers. A name in the file is the project's.
func ProjectFile(p *project.Project, dir string) ([]settings.Layer, error) {
	layer, name, err := settings.ReadFile(filepath.Join(dir, "skitter.yaml"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if name != "" {
		p.Name = name
	}
	return []settings.Layer{layer}, nil
}
