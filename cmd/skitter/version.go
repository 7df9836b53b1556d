package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version tells what this program was built from: the module's version, which
// holds the commit where git was there to ask.
func version() string {
	of := "(unknown)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		of = info.Main.Version
	}
	return fmt.Sprintf("skitter %s %s %s/%s", of, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print what this program was built from",
		Example: "  skitter version",
		Args:    exactly(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintln(a.stdout, version())
			return nil
		},
	}
}

// completionCommand is cobra's, with an example.
func (a *app) completionCommand(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			cmd.Example = "  source <(skitter completion bash)\n  skitter completion zsh > \"${fpath[1]}/_skitter\""
			a.group(cmd)
		}
	}
}
