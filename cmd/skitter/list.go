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
			registry, wrong, err := a.registry()
			if err != nil {
				return asUsage(err)
			}
			if asJSON {
				if err := json.NewEncoder(a.stdout).Encode(registry.Names()); err != nil {
					return &failure{exitFailed, err}
				}
				return asUsage(wrong)
			}
			for _, name := range registry.Names() {
				fmt.Fprintln(a.stdout, name)
			}
			return asUsage(wrong)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}
