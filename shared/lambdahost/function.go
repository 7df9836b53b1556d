package lambdahost

import (
	"context"
	"fmt"
	"io"
	stdlog "log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/skitterhq/skitter/shared/assembly"
	"github.com/skitterhq/skitter/shared/assembly/cloud"
	"github.com/skitterhq/skitter/shared/aws"
	"github.com/skitterhq/skitter/shared/handlers"
	"github.com/skitterhq/skitter/shared/meter"
	"github.com/skitterhq/skitter/shared/project"
	"github.com/skitterhq/skitter/shared/settings"
	"github.com/skitterhq/skitter/shared/topology"
)

// A Deployment is what the functions of a stack have in common.
type Deployment struct {
	Store   *aws.Store
	Stack   topology.Stack
	Project project.Project
	// Layers are the settings of the project file.
	Layers []settings.Layer
	// Guard refuses addresses that requests may not go to, ProxyGuard those
	// that no proxy may have.
	Guard, ProxyGuard func(netip.AddrPort) error
	// API makes what answers calls of control's URL.
	API     func(c *cloud.Cloud) http.Handler
	Meter   *meter.Meter
	Log     *slog.Logger
	Metrics io.Writer
	// RequestID is [Config.RequestID].
	RequestID func(id string)
}

// NewFunction builds one function of a deployment.
func NewFunction(name string, d Deployment) (*Host, *cloud.Cloud, error) {
	c, err := cloud.New(cloud.Options{
		Store: d.Store, Stack: d.Stack, Function: name, Project: d.Project, Layers: d.Layers, Guard: d.Guard, ProxyGuard: d.ProxyGuard, Log: d.Log,
	})
	if err != nil {
		return nil, nil, err
	}
	host := Config{
		Stack: d.Stack, Function: name, Open: d.Store.Queue().Open,
		Meter: d.Meter, Log: d.Log, Metrics: d.Metrics, RequestID: d.RequestID, Now: time.Now,
	}
	switch name {
	case topology.Fetch:
		host.Stage = c.Fetch
	case topology.Parse:
		host.Stage = c.Parse
	case topology.Pipeline:
		host.Stage = c.Pipeline
	case topology.Control:
		host.Stage, host.Control = c.Engine.Control, control(c, d)
	default:
		return nil, nil, fmt.Errorf("no function %q; there are control, fetch, parse and pipeline", name)
	}
	return New(host), c, nil
}

func control(c *cloud.Cloud, d Deployment) *Control {
	return &Control{
		DeadLetters: c.DeadLetters,
		Sweep:       func(ctx context.Context) error { return c.SweepAlone(ctx, d.Stack.Times.Sweep) },
		Create:      c.Create,
		Object: func(ctx context.Context, bucket, key string) ([]byte, error) {
			return d.Store.Bucket(bucket).Get(ctx, key, 0, -1)
		},
		API:     d.API(c),
		Project: d.Project.Name,
	}
}

// Main runs a function in Lambda; it does not return. What it cannot begin with
// is logged in one line and ends the environment.
func Main(name string, p project.Project, api func(c *cloud.Cloud) http.Handler) {
	useMemory(os.Getenv)
	stdlog.SetOutput(handlers.StandardLog(os.Stderr))
	logger := NewLogger(os.Stdout)
	log := slog.New(logger)
	host, err := fromEnvironment(context.Background(), name, p, api, logger)
	if err != nil {
		log.Error("function not started", "function", name, "err", err)
		os.Exit(1)
	}
	lambda.Start(host)
}

// fromEnvironment builds a function from the variables that it is deployed
// with.
func fromEnvironment(ctx context.Context, name string, p project.Project, api func(c *cloud.Cloud) http.Handler, logger *Logger) (*Host, error) {
	stack, err := topology.FromEnvironment(os.Getenv)
	if err != nil {
		return nil, err
	}
	guard, err := NewGuard(ctx, os.Getenv)
	if err != nil {
		return nil, err
	}
	layers, err := assembly.ProjectFile(&p, os.Getenv("LAMBDA_TASK_ROOT"))
	if err != nil {
		return nil, err
	}
	cfg, err := aws.Load(ctx, "")
	if err != nil {
		return nil, err
	}
	m := new(meter.Meter)
	host, _, err := NewFunction(name, Deployment{
		Store: aws.New(aws.Config{AWS: cfg, Stack: stack, Now: time.Now, Meter: m}), Stack: stack, Project: p, Layers: layers,
		Guard: guard.Check, ProxyGuard: guard.CheckProxy, API: api, Meter: m, Log: slog.New(logger), Metrics: os.Stdout, RequestID: logger.RequestID,
	})
	return host, err
}

// NewGuard is the address guard of a deployment whose environment getenv reads:
// it lets through what the deployment allows, but never the Runtime API, nor an
// emulator, to which a page could speak in our name.
func NewGuard(ctx context.Context, getenv func(string) string) (*handlers.Guard, error) {
	allow, err := handlers.ParseNetworks(getenv(topology.EnvAllowAddresses))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", topology.EnvAllowAddresses, err)
	}
	guard := &handlers.Guard{Allow: allow}
	forbid := map[string]string{"AWS_LAMBDA_RUNTIME_API": getenv("AWS_LAMBDA_RUNTIME_API")}
	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_SQS", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_S3"} {
		if u, err := url.Parse(getenv(name)); err == nil && u.Port() != "" {
			forbid[name] = u.Host
		}
	}
	for name, address := range forbid {
		if address == "" {
			continue
		}
		addrs, err := addressesOf(ctx, address)
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w", name, address, err)
		}
		guard.Forbid = append(guard.Forbid, addrs...)
	}
	return guard, nil
}

// addressesOf are those of HOST:PORT.
func addressesOf(ctx context.Context, hostPort string) ([]netip.AddrPort, error) {
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, err
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, err
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	var addrs []netip.AddrPort
	for _, ip := range ips {
		addrs = append(addrs, netip.AddrPortFrom(ip.Unmap(), uint16(number)))
	}
	return addrs, nil
}
