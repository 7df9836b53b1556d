package local

import (
	"fmt"
	"strconv"
	"strings"
)

// A receipt is the key of a message as one delivery left it, the count of
// deliveries by then, and whether its body lies apart. Due time and count
// change with the next one.
type receipt struct {
	job, due, id, receives, large int64
}

const receiptNumbers = 5

// numbers are its parts in the order of its text.
func (r *receipt) numbers() [receiptNumbers]*int64 {
	return [...]*int64{&r.id, &r.due, &r.receives, &r.job, &r.large}
}

func (r *receipt) String() string {
	b := make([]byte, 0, 64)
	for _, n := range r.numbers() {
		b = append(strconv.AppendInt(b, *n, 36), '/')
	}
	return string(b[:len(b)-1])
}

func parseReceipt(s string) (receipt, error) {
	var r receipt
	rest, more := s, true
	for _, n := range r.numbers() {
		var part string
		if !more {
			return receipt{}, fmt.Errorf("receipt %q is not of this queue", s)
		}
		part, rest, more = strings.Cut(rest, "/")
		var err error
		if *n, err = strconv.ParseInt(part, 36, 64); err != nil {
			return receipt{}, fmt.Errorf("receipt %q is not of this queue: %w", s, err)
		}
	}
	if more {
		return receipt{}, fmt.Errorf("receipt %q is not of this queue", s)
	}
	return r, nil
}

func parseReceipts(ss []string) ([]receipt, error) {
	rs := make([]receipt, len(ss))
	for i, s := range ss {
		var err error
		if rs[i], err = parseReceipt(s); err != nil {
			return nil, err
		}
	}
	return rs, nil
}
