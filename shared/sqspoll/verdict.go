package sqspoll

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// errResponse is the reason where a response fails its whole batch.
var errResponse = errors.New("the response does not say which messages failed")

// failures returns the identifiers of those messages of a batch that a
// response reports as failed. An error means all of them. Names are those of
// Lambda to the letter, as they are there.
func failures(response []byte, b batch) (map[string]bool, error) {
	response = bytes.TrimSpace(response)
	if len(response) == 0 {
		return nil, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(response, &fields); err != nil {
		return nil, fmt.Errorf("%w: %w", errResponse, err)
	}
	list := fields["batchItemFailures"]
	if len(list) == 0 {
		return nil, nil
	}
	var items []map[string]json.RawMessage
	if err := json.Unmarshal(list, &items); err != nil {
		return nil, fmt.Errorf("%w: %w", errResponse, err)
	}
	known := map[string]bool{}
	for _, r := range b.records {
		known[r.id] = true
	}
	failed := map[string]bool{}
	for _, item := range items {
		var id string
		if err := json.Unmarshal(item["itemIdentifier"], &id); err != nil || id == "" {
			return nil, fmt.Errorf("%w: an item has no itemIdentifier", errResponse)
		}
		if !known[id] {
			return nil, fmt.Errorf("%w: no message of the batch has the identifier %.100q", errResponse, id)
		}
		failed[id] = true
	}
	return failed, nil
}
