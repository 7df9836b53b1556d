package runtimeapi

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"path/filepath"
	"time"
)

// A Config says what a function is.
type Config struct {
	// Name is the function's name.
	Name string
	// Command is the path of the bootstrap binary, and its arguments; Lambda
	// gives none. The binary's folder is the process's working directory.
	Command []string
	// Env are the function's own variables, as KEY=value. They do not
	// override what Lambda sets.
	Env []string
	// Timeout is for how long one invocation may last, counted from when the
	// event is handed over; more than 0.
	Timeout time.Duration
	// Init is for how long a start may last, until the first event is asked
	// for: 10 s if it is 0, as at Lambda.
	Init time.Duration
	// Max is how many environments live at one time, at least 1.
	Max int
	// Memory is what the function is told that it has, in MB: 128 if it is 0.
	Memory int
	// Region is us-east-1 if it is empty.
	Region string
	// Account is the twelve digits in the function's ARN: zeros if it is
	// empty.
	Account string
	// Freeze stops an environment's processes when it asks for the next
	// event, until there is one, as Lambda does: what a handler leaves
	// running when it returns stands still. Unix only.
	Freeze bool
	// Output takes what the processes print, a line a Write, with the
	// function's name and the environment's number before it. It must be
	// safe for concurrent use if several pools have the same. Nil discards.
	Output io.Writer
	// Log takes what happens to environments. Nil discards.
	Log *slog.Logger
}

// initLimit is for how long a start may last. Source: AWS Lambda Developer
// Guide, "Understanding the Lambda execution environment lifecycle", Init
// phase.
const initLimit = 10 * time.Second

// complete returns the configuration with what was left out filled in, and the
// command as an absolute path.
func (c Config) complete() (Config, error) {
	switch {
	case c.Name == "":
		return c, errors.New("a function has no name")
	case len(c.Command) == 0:
		return c, fmt.Errorf("function %s has no command", c.Name)
	case c.Timeout <= 0:
		return c, fmt.Errorf("function %s has the time-out %v, which is not above 0", c.Name, c.Timeout)
	case c.Max < 1:
		return c, fmt.Errorf("function %s has at most %d environments, which is below 1", c.Name, c.Max)
	case c.Freeze && !canFreeze:
		return c, fmt.Errorf("function %s is to be frozen, which this system cannot do", c.Name)
	}
	path, err := exec.LookPath(c.Command[0])
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return c, fmt.Errorf("find the binary of function %s: %w", c.Name, err)
	}
	c.Command = append([]string{path}, c.Command[1:]...)
	c.Init = cmp.Or(c.Init, initLimit)
	c.Memory = cmp.Or(c.Memory, 128)
	c.Region = cmp.Or(c.Region, "us-east-1")
	c.Account = cmp.Or(c.Account, "000000000000")
	if c.Output == nil {
		c.Output = io.Discard
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.Log = c.Log.With("function", c.Name)
	return c, nil
}

// arn is the function's name in the whole cloud.
func (c Config) arn() string {
	return fmt.Sprintf("arn:aws:lambda:%s:%s:function:%s", c.Region, c.Account, c.Name)
}
