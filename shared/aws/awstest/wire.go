package awstest

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"strconv"
	"strings"
)

// fail is the answer to a call that met an error, in its service's shape.
func fail(c *Call, err error) *answer {
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Status: http.StatusInternalServerError, Code: "InternalFailure", Message: err.Error()}
	}
	if strings.HasPrefix(c.Op, "s3.") {
		return xmlError(e)
	}
	body := map[string]any{"__type": namespaces[strings.HasPrefix(c.Op, "sqs.")] + e.Code, "message": e.Message}
	if e.item != nil {
		body["Item"] = e.item
	}
	if e.reasons != nil {
		body["CancellationReasons"] = e.reasons
	}
	a := jsonAnswer(e.Status, body)
	if strings.HasPrefix(c.Op, "sqs.") {
		a.header.Set("X-Amzn-Query-Error", e.queryError())
	}
	return a
}

// namespaces are those of the error codes of SQS (true) and DynamoDB.
var namespaces = map[bool]string{true: "com.amazonaws.sqs#", false: "com.amazonaws.dynamodb.v20120810#"}

func (e *Error) queryError() string {
	fault := "Sender"
	if e.Status >= http.StatusInternalServerError {
		fault = "Receiver"
	}
	if e.QueryCode != "" {
		return e.QueryCode + ";" + fault
	}
	return e.Code + ";" + fault
}

func jsonAnswer(status int, out any) *answer {
	body, err := json.Marshal(out)
	if err != nil {
		panic(fmt.Sprintf("awstest: %v", err)) // an answer that is no JSON is a mistake of this package
	}
	return &answer{status: status, body: body, header: http.Header{
		"Content-Type": {"application/x-amz-json-1.0"},
		"X-Amz-Crc32":  {strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10)},
	}}
}

// decode reads the body of a JSON call. A parameter that there is no code for
// is refused, so that nobody trusts in its effect.
func decode[T any](c *Call) (T, error) {
	var in T
	d := json.NewDecoder(bytes.NewReader(c.Body))
	d.DisallowUnknownFields()
	err := d.Decode(&in)
	if err == nil {
		return in, nil
	}
	if _, field, ok := strings.Cut(err.Error(), "unknown field "); ok {
		return in, &Error{
			Status: http.StatusNotImplemented, Code: "NotImplemented",
			Message: "awstest does not know the parameter " + field + " of " + c.Op,
		}
	}
	return in, &Error{Status: http.StatusBadRequest, Code: "SerializationException", Message: err.Error()}
}

// unknown refuses an operation that there is no code for.
func unknown(c *Call) *Error {
	return &Error{
		Status: http.StatusNotImplemented, Code: "NotImplemented",
		Message: fmt.Sprintf("awstest does not know %s (%s %s)", c.Op, c.Request.Method, c.Request.URL),
	}
}

func xmlAnswer(status int, out any) *answer {
	body, err := xml.Marshal(out)
	if err != nil {
		panic(fmt.Sprintf("awstest: %v", err)) // as in jsonAnswer
	}
	return &answer{
		status: status, body: append([]byte(xml.Header), body...),
		header: http.Header{"Content-Type": {"application/xml"}},
	}
}

func xmlError(e *Error) *answer {
	return xmlAnswer(e.Status, struct {
		XMLName xml.Name `xml:"Error"`
		Code    string
		Message string
	}{Code: e.Code, Message: e.Message})
}
