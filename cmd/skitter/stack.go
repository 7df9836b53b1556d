package main

import (
	"context"
	"log/slog"
	"net/url"
	"os"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"

	"github.com/skitterhq/skitter/shared/assembly/cloud"
	"github.com/skitterhq/skitter/shared/aws"
	"github.com/skitterhq/skitter/shared/aws/provision"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/topology"
)

// defaultStack is the name of a stack that is given none.
const defaultStack = "skitter"

// stackOf is the stack that flags name, and how to reach it.
func stackOf(ctx context.Context, f placeFlags, scale float64) (topology.Stack, awssdk.Config, error) {
	name := f.stack
	if name == "" {
		name = defaultStack
	}
	if f.endpoint != "" {
		if u, err := url.Parse(f.endpoint); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return topology.Stack{}, awssdk.Config{}, wrongUse("--endpoint %s: want a URL such as http://127.0.0.1:4566", f.endpoint)
		}
	}
	stack := topology.Default(name)
	stack.Bucket = os.Getenv(topology.EnvBucket) // a deployed stack's has its account in its name
	if err := stack.Validate(); err != nil {
		return stack, awssdk.Config{}, asUsage(err)
	}
	if !(scale >= 1 && scale <= topology.MaxScale) { // said this way round, it refuses NaN
		return stack, awssdk.Config{}, wrongUse("--time-scale %v: it divides times, so it is 1 to %d", scale, topology.MaxScale)
	}
	if scale != 1 {
		stack = stack.Scaled(scale)
	}
	cfg, err := aws.Load(ctx, f.endpoint)
	if err != nil {
		return stack, cfg, &failure{exitFailed, err}
	}
	return stack, cfg, nil
}

// openStack is the engine over a stack, as control has it, without running
// anything there.
func (a *app) openStack(ctx context.Context, f placeFlags, layers []settings.Layer, log *slog.Logger) (*cloud.Cloud, error) {
	stack, cfg, err := stackOf(ctx, f, 1)
	if err != nil {
		return nil, err
	}
	if err := provision.Find(ctx, cfg, stack); err != nil {
		return nil, &failure{exitFailed, err}
	}
	return a.cloudOf(stack, cfg, layers, log)
}

func (a *app) cloudOf(stack topology.Stack, cfg awssdk.Config, layers []settings.Layer, log *slog.Logger) (*cloud.Cloud, error) {
	c, err := cloud.New(cloud.Options{
		Store: aws.New(aws.Config{AWS: cfg, Stack: stack, Now: time.Now}), Stack: stack,
		Function: topology.Control, Project: a.project, Layers: layers, Log: log,
	})
	return c, asUsage(err)
}
