package lambdahost

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/uuid"
)

// maxCall is the longest call of a function URL in bytes: 6 MB. Source: AWS
// Lambda Developer Guide, "Lambda quotas".
const maxCall = 6 << 20

// URLHandler serves a function's URL on this machine: each HTTP request becomes
// an event that the function is invoked with.
func URLHandler(invoke func(ctx context.Context, event []byte) ([]byte, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxCall))
		if err != nil {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
		event, err := json.Marshal(eventOf(r, body))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		var answer events.LambdaFunctionURLResponse
		response, err := invoke(r.Context(), event)
		if err == nil {
			err = json.Unmarshal(response, &answer)
		}
		if err != nil {
			// As at Lambda, what a function dies of is not told to the caller.
			http.Error(w, "Internal Server Error", http.StatusBadGateway)
			return
		}
		writeAnswer(w, answer)
	})
}

// eventOf is the event of one request, as payload format 2.0 has it.
func eventOf(r *http.Request, body []byte) events.LambdaFunctionURLRequest {
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	now := time.Now().UTC()
	ev := events.LambdaFunctionURLRequest{
		Version: "2.0", RawPath: r.URL.EscapedPath(), RawQueryString: r.URL.RawQuery,
		Headers: make(map[string]string, len(r.Header)),
		Body:    base64.StdEncoding.EncodeToString(body), IsBase64Encoded: true,
		RequestContext: events.LambdaFunctionURLRequestContext{
			RequestID: uuid.NewString(), DomainName: r.Host,
			Time: now.Format("02/Jan/2006:15:04:05 -0700"), TimeEpoch: now.UnixMilli(),
			HTTP: events.LambdaFunctionURLRequestContextHTTPDescription{
				Method: r.Method, Path: r.URL.Path, Protocol: r.Proto, SourceIP: host, UserAgent: r.UserAgent(),
			},
		},
	}
	for name, values := range r.Header {
		ev.Headers[strings.ToLower(name)] = strings.Join(values, ",")
	}
	ev.Headers["content-length"] = strconv.Itoa(len(body))
	return ev
}

func writeAnswer(w http.ResponseWriter, answer events.LambdaFunctionURLResponse) {
	body := []byte(answer.Body)
	if answer.IsBase64Encoded {
		var err error
		if body, err = base64.StdEncoding.DecodeString(answer.Body); err != nil {
			http.Error(w, "Internal Server Error", http.StatusBadGateway)
			return
		}
	}
	for name, value := range answer.Headers {
		w.Header().Set(name, value)
	}
	for _, cookie := range answer.Cookies {
		w.Header().Add("Set-Cookie", cookie)
	}
	w.WriteHeader(answer.StatusCode)
	_, _ = w.Write(body) // whoever asked may be gone
}
