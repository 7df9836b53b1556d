// Command skitter crawls web sites on this machine. Its commands follow
// Scrapy's where Scrapy has one; docs/cli.md has them all.
//
// Results go to stdout, everything that people read to stderr.
package main

import (
	"context"
	"log"
	"os"

	"github.com/skitterhq/skitter/shared/handlers"
)

func main() {
	log.SetOutput(handlers.StandardLog(os.Stderr))
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
