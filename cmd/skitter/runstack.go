package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/spf13/pflag"

	"github.com/skitterhq/skitter/shared/api"
	"github.com/skitterhq/skitter/shared/assembly/cloud"
	"github.com/skitterhq/skitter/shared/aws"
	"github.com/skitterhq/skitter/shared/aws/provision"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/lambdahost"
	"github.com/skitterhq/skitter/shared/runtimeapi"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/sqspoll"
	"github.com/skitterhq/skitter/shared/topology"
)

const (
	// pollWait is how long a poll waits for messages: shorter than at AWS,
	// since nobody pays for a poll here, and whoever stops waits for it.
	pollWait = time.Second
	// loopHops is how many invocations of one function a chain may have where
	// Lambda stops loops: about 16. Source: AWS Lambda Developer Guide, "Use
	// Lambda recursive loop detection".
	loopHops = 16
	// allowLocal are the networks that the functions may fetch from on one
	// machine although they are not public: its own.
	allowLocal = "127.0.0.0/8,::1/128"
)

// stackFlags say how a stack is run from this machine.
type stackFlags struct {
	placeFlags
	exec         string
	scale        float64
	environments int
	allow        string
	terminate    bool
}

func (f *stackFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.exec, "exec", "", "run the bootstrap binaries in this folder (DIR/FUNCTION/bootstrap) instead of the functions in this process")
	flags.Float64Var(&f.scale, "time-scale", 1, "divide every time of the stack, for tests")
	flags.IntVar(&f.environments, "environments", 4, "environments of each function, and batches of each queue, at one time")
	flags.BoolVar(&f.terminate, "terminate-loops", false, "with --exec: stop chains of more than 16 invocations, as Lambda does where RecursiveLoop is not Allow")
	flags.StringVar(&f.allow, "allow", allowLocal, "networks that may be fetched from although they are not public, with commas between")
}

// running is a stack that is driven from this machine.
type running struct {
	// cloud is the engine as this program uses it.
	cloud *cloud.Cloud
	// invoke calls a function with an event.
	invoke map[string]invoke
	// failed has an error after which there is no going on.
	failed chan error

	config   awssdk.Config
	mappings []*sqspoll.Mapping
	pools    map[string]*runtimeapi.Pool
	clouds   []*cloud.Cloud
	stop     context.CancelFunc
	working  sync.WaitGroup
	closing  sync.Once
}

type invoke func(ctx context.Context, event []byte) ([]byte, error)

// runStack creates what is missing of a stack, and drives its functions until
// the returned value is closed.
func (a *app) runStack(ctx context.Context, f stackFlags, layers []settings.Layer, show *display) (*running, error) {
	r, err := a.prepareStack(ctx, f, layers, show)
	if err != nil {
		return nil, err
	}
	r.drive(ctx, f, r.cloud.Log)
	return r, nil
}

// prepareStack creates what is missing of a stack at an emulator, and makes its
// functions ready to be invoked.
func (a *app) prepareStack(ctx context.Context, f stackFlags, layers []settings.Layer, show *display) (*running, error) {
	stack, cfg, err := stackOf(ctx, f.placeFlags, f.scale)
	if err != nil {
		return nil, err
	}
	if f.terminate && f.exec == "" {
		return nil, wrongUse("--terminate-loops wants --exec: only the binaries hand on what tells a loop")
	}
	if f.environments < 1 {
		return nil, wrongUse("--environments %d: at least 1", f.environments)
	}
	if _, err := handlers.ParseNetworks(f.allow); err != nil {
		return nil, wrongUse("--allow: %v", err)
	}
	if f.endpoint != "" {
		if err := provision.Create(ctx, cfg, stack); err != nil {
			return nil, &failure{exitFailed, err}
		}
	}
	env, err := environment(ctx, f, stack, cfg)
	if err != nil {
		return nil, &failure{exitFailed, err}
	}
	r := &running{config: cfg, invoke: make(map[string]invoke), pools: make(map[string]*runtimeapi.Pool), failed: make(chan error, 1)}
	if r.cloud, err = a.cloudOf(stack, cfg, layers, show.log); err != nil {
		return nil, err
	}
	r.clouds = append(r.clouds, r.cloud)
	if f.exec != "" {
		err = r.binaries(f, stack, env, show)
	} else {
		err = r.functions(ctx, env, lambdahost.Deployment{
			Store: r.cloud.Store, Stack: stack, Project: a.project, Layers: layers, API: apiOf, Log: show.log,
		})
	}
	if err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// functions builds the functions in this process. They may fetch from where the
// binaries may.
func (r *running) functions(ctx context.Context, env map[string]string, d lambdahost.Deployment) error {
	guard, err := lambdahost.NewGuard(ctx, func(name string) string { return env[name] })
	if err != nil {
		return &failure{exitFailed, err}
	}
	d.Guard, d.ProxyGuard = guard.Check, guard.CheckProxy
	for _, fn := range d.Stack.Functions {
		host, c, err := lambdahost.NewFunction(fn.Name, d)
		if err != nil {
			return asUsage(err)
		}
		r.clouds = append(r.clouds, c)
		r.invoke[fn.Name] = func(ctx context.Context, event []byte) ([]byte, error) {
			ctx, cancel := context.WithTimeout(ctx, fn.Timeout)
			defer cancel()
			return host.Invoke(ctx, event)
		}
	}
	return nil
}

// binaries makes a pool of environments for each function.
func (r *running) binaries(f stackFlags, stack topology.Stack, env map[string]string, show *display) error {
	var variables []string
	for name, value := range env {
		if value != "" {
			variables = append(variables, name+"="+value)
		}
	}
	for _, fn := range stack.Functions {
		pool, err := runtimeapi.New(runtimeapi.Config{
			Name: stack.FunctionName(fn.Name), Command: []string{filepath.Join(f.exec, fn.Name, "bootstrap")}, Env: variables,
			Timeout: fn.Timeout, Max: f.environments * len(fn.Sources), Memory: fn.Memory, Region: r.config.Region, Freeze: true,
			Output: withoutMetrics{show}, Log: r.cloud.Log,
		})
		if err != nil {
			return wrongUse("--exec %s: %v; make dist builds the binaries", f.exec, err)
		}
		r.pools[fn.Name] = pool
		r.invoke[fn.Name] = func(ctx context.Context, event []byte) ([]byte, error) {
			return pool.Invoke(runtimeapi.WithTrace(ctx, sqspoll.Trace(ctx)), event)
		}
	}
	return nil
}

// environment is what the functions are deployed with.
func environment(ctx context.Context, f stackFlags, stack topology.Stack, cfg awssdk.Config) (map[string]string, error) {
	credentials, err := cfg.Credentials.Retrieve(ctx)
	if err != nil {
		return nil, fmt.Errorf("AWS credentials: %w", err)
	}
	vars := stack.Environment()
	vars[topology.EnvAllowAddresses] = f.allow
	vars["AWS_ACCESS_KEY_ID"], vars["AWS_SECRET_ACCESS_KEY"], vars["AWS_SESSION_TOKEN"] =
		credentials.AccessKeyID, credentials.SecretAccessKey, credentials.SessionToken
	if cfg.BaseEndpoint != nil {
		vars["AWS_ENDPOINT_URL"] = *cfg.BaseEndpoint
	}
	for _, service := range []string{"SQS", "DYNAMODB", "S3"} {
		if url := os.Getenv("AWS_ENDPOINT_URL_" + service); url != "" {
			vars["AWS_ENDPOINT_URL_"+service] = url
		}
	}
	return vars, nil
}

// drive polls every queue, and sweeps.
func (r *running) drive(ctx context.Context, f stackFlags, log *slog.Logger) {
	ctx, r.stop = context.WithCancel(ctx)
	stack := r.cloud.Stack
	client := sqs.NewFromConfig(aws.ForClient(r.config))
	for _, fn := range stack.Functions {
		for _, source := range fn.Sources {
			m := sqspoll.Of(stack, source)
			m.Client, m.Invoke, m.Log, m.Wait = client, r.invoke[fn.Name], log, pollWait
			m.Concurrency = min(m.Concurrency, f.environments)
			if m.Function = stack.FunctionName(fn.Name); f.terminate {
				m.Hops = loopHops
			}
			r.mappings = append(r.mappings, m)
			r.working.Go(func() {
				if err := m.Run(ctx); err != nil {
					r.fail(err)
				}
			})
		}
	}
	r.working.Go(func() { r.sweep(ctx, stack.Times.Sweep, log) })
}

func (r *running) fail(err error) {
	select {
	case r.failed <- err:
	default: // the first one says enough
	}
}

// sweep invokes control as its schedule does.
func (r *running) sweep(ctx context.Context, every time.Duration, log *slog.Logger) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if _, err := r.invoke[topology.Control](ctx, []byte(`{"skitter":"sweep"}`)); err != nil && ctx.Err() == nil {
			log.Error("sweep failed", "err", err)
		}
	}
}

// close stops polling, waits for what is under way, and ends the functions.
func (r *running) close() {
	r.closing.Do(func() {
		if r.stop != nil {
			r.stop()
		}
		r.working.Wait()
		for _, p := range r.pools {
			p.Close()
		}
		for _, c := range r.clouds {
			c.Close()
		}
	})
}

// withoutMetrics leaves out the lines that are for CloudWatch alone.
type withoutMetrics struct{ io.Writer }

func (w withoutMetrics) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte(`{"_aws":`)) {
		return len(line), nil
	}
	return w.Writer.Write(line)
}

// apiOf is the job service over a stack.
func apiOf(c *cloud.Cloud) http.Handler {
	return api.New(api.Config{
		Engine: c, Jobs: c.Jobs, Project: c.Project.Name, Version: version(), Spiders: c.Registry.Names(),
		Check: c.Check, NodeName: c.Stack.FunctionName(topology.Control), Log: c.Log,
	})
}
