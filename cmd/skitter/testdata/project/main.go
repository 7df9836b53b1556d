// Command mine crawls with the spiders of a project of its own: mine SPIDER
// prints the items and requests, check the contracts that do not hold.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"

	"github.com/skitterhq/skitter/shared/assembly"
	"github.com/skitterhq/skitter/shared/assembly/machine"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine"

	"example.com/mine/spiders"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(name string) error {
	ctx, log := context.Background(), slog.New(slog.NewTextHandler(os.Stderr, nil))
	spec := crawl.JobSpec{Spider: name, Settings: map[string]string{
		"DOWNLOAD_DELAY": "0", "CONCURRENT_REQUESTS_PER_DOMAIN": "16", "LOG_LEVEL": "WARNING",
	}}
	if err := check(ctx, spec, log); err != nil {
		return err
	}
	m, err := machine.Open(machine.Options{Dir: ".skitter", Project: spiders.Project(), Log: log})
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }()
	job, _, err := m.Create(ctx, engine.Order{Project: "default", Spec: spec})
	if err != nil {
		return err
	}
	if _, err := m.Run(ctx, job.UID); err != nil {
		return err
	}
	enc := json.NewEncoder(os.Stdout)
	enc.SetEscapeHTML(false)
	for row, err := range m.Scheduler.Output(ctx, job.UID) {
		if err != nil {
			return err
		}
		if err := enc.Encode(row.Item); err != nil {
			return err
		}
	}
	return nil
}

// check checks the spider's contracts.
func check(ctx context.Context, spec crawl.JobSpec, log *slog.Logger) error {
	all, err := assembly.NewSingles(spiders.Project(), nil, log)
	if err != nil {
		return err
	}
	single, err := all.Single(spec)
	if err != nil {
		return err
	}
	for k := range single.Spider().Contracts {
		for _, err := range single.Check(ctx, &single.Spider().Contracts[k]) {
			return fmt.Errorf("contract %d: %w", k+1, err)
		}
	}
	return nil
}
