package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skitterhq/skitter/shared/topology"
)

func (a *app) invokeCommand() *cobra.Command {
	var f stackFlags
	cmd := &cobra.Command{
		Use:   "invoke FUNCTION EVENT.json",
		Short: "Run one function on one event",
		Long: `Runs one of the stack's functions (control, fetch, parse, pipeline) on this
machine, on the event in a file, and prints its answer. The folder events/ has a
sample of each kind.`,
		Example: `  skitter invoke control events/control-url-daemonstatus.json --endpoint http://127.0.0.1:4566`,
		Args:    exactly(2, "a function and a file with its event"),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.invoke(cmd.Context(), f, args[0], args[1]) },
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return []cobra.Completion{"json"}, cobra.ShellCompDirectiveFilterFileExt
			}
			return functionNames(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	f.addStack(cmd.Flags())
	f.add(cmd.Flags())
	return cmd
}

// functionNames are the functions of a stack.
func functionNames() []string {
	var names []string
	for _, fn := range topology.Default(defaultStack).Functions {
		names = append(names, fn.Name)
	}
	return names
}

func (a *app) invoke(ctx context.Context, f stackFlags, name, file string) error {
	if names := functionNames(); !slices.Contains(names, name) {
		return wrongUse("there is no function %q; there are %s", name, strings.Join(names, ", "))
	}
	if !f.onAWS() {
		return wrongUse("invoke wants --endpoint URL, or --stack NAME for a stack on AWS itself: a function works on a stack's queues and tables")
	}
	event, err := os.ReadFile(file)
	if err != nil {
		return asUsage(err)
	}
	layers, err := a.layers()
	if err != nil {
		return err
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	r, err := a.prepareStack(ctx, f, layers, newDisplay(a.stderr, true))
	if err != nil {
		return err
	}
	defer r.close()
	answer, err := r.invoke[name](ctx, event)
	if err != nil {
		return &failure{exitFailed, err}
	}
	fmt.Fprintf(a.stdout, "%s\n", answer)
	var batch struct {
		BatchItemFailures []json.RawMessage `json:"batchItemFailures"`
	}
	if err := json.Unmarshal(answer, &batch); err == nil && len(batch.BatchItemFailures) > 0 {
		return &failure{exitFailed, fmt.Errorf("%d of the messages are to be delivered again", len(batch.BatchItemFailures))}
	}
	return nil
}
