package aws

import (
	"context"
	"fmt"
	"net/http"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
)

// idleConns is how many connections to a service are kept: as many as there are
// calls of DynamoDB, SQS and S3 at one time in a busy function. The SDK keeps
// ten, and would open another for each call beyond them.
const idleConns = 64

// emulatorRegion is the region where none is set: an emulator takes any.
const emulatorRegion = "us-east-1"

// Load reads region and credentials from where AWS's own tools do:
// environment, profile, or the machine's role. An endpoint that is not empty
// goes before AWS_ENDPOINT_URL. At an endpoint of http, which is an emulator,
// missing credentials are made up.
func Load(ctx context.Context, endpoint string) (awssdk.Config, error) {
	var options []func(*config.LoadOptions) error
	if endpoint != "" {
		// No machine that has a role talks to an emulator, and asking for one
		// takes seconds where there is none.
		options = append(options, config.WithEC2IMDSClientEnableState(imds.ClientDisabled))
	}
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return cfg, fmt.Errorf("AWS configuration: %w", err)
	}
	if endpoint != "" {
		cfg.BaseEndpoint = &endpoint
	}
	if client, ok := cfg.HTTPClient.(*awshttp.BuildableClient); ok {
		cfg.HTTPClient = client.WithTransportOptions(func(t *http.Transport) { t.MaxIdleConnsPerHost = idleConns })
	}
	if !isLocal(cfg) {
		if cfg.Region == "" {
			return cfg, fmt.Errorf("AWS configuration: no region; set AWS_REGION, or region in the profile")
		}
		return cfg, nil
	}
	if cfg.Region == "" {
		cfg.Region = emulatorRegion
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
		cfg.Credentials = credentials.NewStaticCredentialsProvider("test", "test", "")
	}
	return cfg, nil
}
