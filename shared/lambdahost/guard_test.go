package lambdahost_test

import (
	"net/netip"
	"testing"

	"github.com/skitterhq/skitter/shared/lambdahost"
	"github.com/skitterhq/skitter/shared/topology"
)

func TestGuardForbidsWhatSpeaksInOurName(t *testing.T) {
	env := map[string]string{
		topology.EnvAllowAddresses:  "127.0.0.0/8",
		"AWS_LAMBDA_RUNTIME_API":    "127.0.0.1:9001",
		"AWS_ENDPOINT_URL":          "http://127.0.0.1:4566",
		"AWS_ENDPOINT_URL_SQS":      "http://127.0.0.1:9324",
		"AWS_ENDPOINT_URL_DYNAMODB": "http://127.0.0.1:8000",
		"AWS_ENDPOINT_URL_S3":       "http://127.0.0.1:9000",
	}
	guard, err := lambdahost.NewGuard(t.Context(), func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	if err := guard.Check(netip.MustParseAddrPort("127.0.0.1:8080")); err != nil {
		t.Errorf("a site on an allowed network: %v", err)
	}
	for _, address := range []string{"127.0.0.1:9001", "127.0.0.1:4566", "127.0.0.1:9324", "127.0.0.1:8000", "127.0.0.1:9000", "10.0.0.1:80"} {
		if err := guard.Check(netip.MustParseAddrPort(address)); err == nil {
			t.Errorf("%s may be fetched from", address)
		}
	}
}
