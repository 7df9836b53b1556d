package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skitterhq/skitter/shared/assembly"
	"github.com/skitterhq/skitter/shared/project/newspider"
)

// newFlags are the options of new.
type newFlags struct {
	template, dump string
	list, force    bool
}

func (a *app) newCommand() *cobra.Command {
	var f newFlags
	first := newspider.Templates()[0].Name
	cmd := &cobra.Command{
		Use:   "new NAME URL",
		Short: "Write a new spider from a template",
		Long: `Writes a spider that starts with a page, from a template, into the project of this
folder: in Go under spiders/NAME/, with a test and a place in spiders/project.go,
or as spiders/NAME.yaml.`,
		Example: `  skitter new books http://books.example/
  skitter new news https://news.example/feed.xml --template feed
  skitter new --list`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error { return a.newSpider(f, args) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.template, "template", "t", first, "the template")
	flags.BoolVarP(&f.list, "list", "l", false, "list the templates")
	flags.StringVarP(&f.dump, "dump", "d", "", "print the text of a template and write nothing")
	flags.BoolVar(&f.force, "force", false, "overwrite files that are there")
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	complete(cmd, "template", completeTemplates)
	complete(cmd, "dump", completeTemplates)
	return cmd
}

func completeTemplates(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var found []cobra.Completion
	for _, t := range newspider.Templates() {
		found = append(found, cobra.CompletionWithDesc(t.Name, t.Doc))
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) newSpider(f newFlags, args []string) error {
	if (f.list || f.dump != "") && len(args) > 0 || f.list && f.dump != "" {
		return wrongUse("--list and --dump T print, each by itself, and take no arguments")
	}
	switch {
	case f.list:
		for _, t := range newspider.Templates() {
			fmt.Fprintf(a.stdout, "%s\t%s\n", t.Name, t.Doc)
		}
		return nil
	case f.dump != "":
		text, err := newspider.Dump(f.dump)
		if err != nil {
			return asUsage(err)
		}
		fmt.Fprint(a.stdout, text)
		return nil
	case len(args) != 2:
		return wrongUse("new wants the spider's name and the URL of the page that it starts with; see skitter new --help")
	}
	o := newspider.Options{Name: args[0], Template: f.template, Force: f.force}
	var err error
	if o.URL, err = assembly.PageURL(withScheme(args[1])); err != nil {
		return asUsage(err)
	}
	if o.Taken, err = a.taken(); err != nil {
		return err
	}
	if o.Root, err = rootFor(f.template); err != nil {
		return &failure{exitFailed, err}
	}
	made, err := newspider.Create(o)
	for _, file := range made.Files {
		fmt.Fprintln(a.stdout, seenFromHere(filepath.Join(o.Root, file)))
	}
	switch {
	case err != nil && len(made.Files) > 0:
		return &failure{exitFailed, err}
	case err != nil:
		return asUsage(err)
	case made.Todo != "":
		return &failure{exitFailed, errors.New(made.Todo)}
	case made.Listed:
		fmt.Fprintf(a.stderr, "next: go test ./%s, build skitter anew (make build), then: skitter crawl %s\n", filepath.ToSlash(filepath.Join(seenFromHere(filepath.Join(o.Root, "spiders")), "...")), o.Name)
	default:
		fmt.Fprintf(a.stderr, "next: skitter crawl %s\n", o.Name)
	}
	return nil
}

// rootFor is the folder that a spider is written into: for one in Go that of the
// module, for one in YAML this one, where the other commands look for it.
func rootFor(template string) (string, error) {
	if template == "yaml" {
		return ".", nil
	}
	root, err := newspider.Module(".")
	if root == "" {
		root = "."
	}
	return root, err
}

// seenFromHere is a file's name as it leads there from this folder.
func seenFromHere(name string) string {
	if here, err := os.Getwd(); err == nil && filepath.IsAbs(name) {
		if rel, err := filepath.Rel(here, name); err == nil {
			return rel
		}
	}
	return name
}

// withScheme lets a bare domain stand for its home page, as Scrapy's genspider
// does.
func withScheme(address string) string {
	if strings.Contains(address, "://") {
		return address
	}
	return "https://" + address
}

// taken are the names of the spiders that there are. A YAML spider that is
// wrong hides none: its file is found by its name.
func (a *app) taken() ([]string, error) {
	registry, _, err := a.registry()
	if err != nil {
		return nil, asUsage(err)
	}
	return registry.Names(), nil
}
