package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// scrapysOwn says what to do in place of commands that Scrapy has and Skitter
// has under another name, or has not.
var scrapysOwn = map[string]string{
	"runspider":    "skitter run FILE.yaml runs a spider that is written in YAML; one in Go is built in: put it under spiders/, name it in spiders/project.go, run make build, then: skitter crawl SPIDER",
	"startproject": "a project is a copy of Skitter's repository; your part of it is the folder spiders/; skitter new NAME URL writes a spider there",
	"genspider":    "skitter new NAME URL writes a new spider from a template",
	"view":         "skitter shell URL -c view writes the page to a file and names it; typed in the shell, view opens the browser",
	"settings":     "docs/settings.md has them all",
	"bench":        "make bench measures a crawl",
}

// unknownCommand says which command was probably meant.
func (a *app) unknownCommand(cmd *cobra.Command, args []string) error {
	at := slices.IndexFunc(args, func(s string) bool { return !strings.HasPrefix(s, "-") })
	if at < 0 {
		return wrongUse("no command; see %s --help", cmd.CommandPath())
	}
	name := args[at]
	what := fmt.Sprintf("unknown command %q", name)
	if cmd.HasParent() {
		what += " of " + cmd.CommandPath()
	}
	if !cmd.HasParent() {
		if instead := scrapysOwn[name]; instead != "" {
			return wrongUse("%s: %s", what, instead)
		}
		if names, _ := a.completeSpiders(nil, nil, ""); slices.Contains(names, name) {
			return wrongUse("%s; did you mean: %s crawl %s", what, cmd.CommandPath(), name)
		}
	}
	cmd.SuggestionsMinimumDistance = 2
	var near []string
	for _, s := range cmd.SuggestionsFor(name) {
		near = append(near, cmd.CommandPath()+" "+s)
	}
	if len(near) > 0 {
		return wrongUse("%s; did you mean: %s", what, strings.Join(near, ", or "))
	}
	return wrongUse("%s; see %s --help", what, cmd.CommandPath())
}

// group makes a command of others refuse what is none of them; by itself it
// prints its help.
func (a *app) group(cmd *cobra.Command) *cobra.Command {
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return a.unknownCommand(cmd, args)
	}
	return cmd
}

// printError prints one line a mistake, and the reason is the last thing on
// stderr. Lines that show a place in a file, as those of YAML do, come before
// the line that they belong to.
func printError(w io.Writer, err error) {
	reason, told := "", false
	tell := func() {
		if reason != "" {
			fmt.Fprintln(w, "skitter: "+reason)
			told = true
		}
	}
	for line := range strings.Lines(err.Error()) {
		line = strings.TrimRight(line, " \t\r\n")
		switch {
		case line == "":
		case reason != "" && strings.ContainsRune(" \t>", rune(line[0])):
			fmt.Fprintln(w, line)
		default:
			tell()
			reason = line
		}
	}
	if tell(); !told {
		fmt.Fprintln(w, "skitter: it failed without a reason")
	}
}
