package main

import (
	"github.com/spf13/cobra"

	"github.com/skitterhq/skitter/shared/yamlspider"
)

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of YAML spiders",
		Long: `Prints the JSON Schema by which editors complete and check YAML spiders. A file
names it in its first line: # yaml-language-server: $schema=spider.schema.json`,
		Example: "  skitter schema > spider.schema.json",
		Args:    exactly(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			_, err := a.stdout.Write(yamlspider.Schema())
			return err
		},
	}
}
