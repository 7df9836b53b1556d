package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) listCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the project's spiders, one a line",
		Example: "  skitter list",
		Args:    exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			registry, err := a.registry()
			if err != nil {
				return &failure{exitFailed, err}
			}
			if asJSON {
				return json.NewEncoder(a.stdout).Encode(registry.Names())
			}
			for _, name := range registry.Names() {
				fmt.Fprintln(a.stdout, name)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}
