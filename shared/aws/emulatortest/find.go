package emulatortest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// folder is where make emulators installs, in the repository's root.
const folder = ".emulators"

// find returns the path of an emulator that works: the one that the variable
// names and no other, else the one on the PATH, else the installed one.
func (e *emulator) find(ctx context.Context) (string, error) {
	if path := os.Getenv(e.variable); path != "" {
		if err := works(ctx, path); err != nil {
			return "", fmt.Errorf("%s does not work: %w", e.variable, err)
		}
		return path, nil
	}
	var problems []error
	if path, err := exec.LookPath(e.command); err == nil {
		err := works(ctx, path)
		if err == nil {
			return path, nil
		}
		problems = append(problems, fmt.Errorf("the %s on the PATH does not work: %w", e.command, err))
	}
	root, err := root()
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, folder, e.installed)
	if _, err := os.Stat(path); err != nil {
		return "", errors.Join(append(problems, fmt.Errorf("no %s on this machine", e.name))...)
	}
	if err := works(ctx, path); err != nil {
		return "", errors.Join(append(problems, fmt.Errorf("the installed %s does not work: %w", e.name, err))...)
	}
	return path, nil
}

// works runs a program: a shim of pyenv is there even where nothing stands
// behind it. moto_server has no flag for its version.
func works(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, startTime/2)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--help")
	cmd.WaitDelay = time.Second
	return cmd.Run()
}

// root is the folder of go.mod, at or above the one that the test runs in.
func root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("no go.mod at or above the test's folder")
		}
		dir = up
	}
}
