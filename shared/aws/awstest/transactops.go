package awstest

import (
	"net/http"
	"strings"
)

// maxTransaction is how many writes a transaction has at most. Source: Amazon
// DynamoDB API Reference, TransactWriteItems.
const maxTransaction = 100

// A cancelReason says why one part of a transaction stopped it.
type cancelReason struct {
	Code    string
	Message string `json:",omitempty"`
	Item    item   `json:",omitempty"`
}

// A transactWrite is one part of a transaction.
type transactWrite struct{ Put, Update, Delete, ConditionCheck *writeRequest }

func (w transactWrite) request() (op string, in *writeRequest) {
	switch {
	case w.Put != nil:
		return "PutItem", w.Put
	case w.Update != nil:
		return "UpdateItem", w.Update
	case w.Delete != nil:
		return "DeleteItem", w.Delete
	}
	return "ConditionCheck", w.ConditionCheck
}

func (b *Backend) transactWriteItems(c *Call) (any, error) {
	in, err := decode[struct {
		TransactItems               []transactWrite
		ClientRequestToken          string
		ReturnConsumedCapacity      string
		ReturnItemCollectionMetrics string
	}](c)
	if err != nil {
		return nil, err
	}
	if n := len(in.TransactItems); n == 0 || n > maxTransaction {
		return nil, validation("Member must have length between 1 and %d", maxTransaction)
	}
	var list []prepared
	var reasons []cancelReason
	stopped := false
	seen := map[string]map[key]bool{}
	for _, part := range in.TransactItems {
		op, r := part.request()
		if r == nil {
			return nil, validation("TransactItems can only contain one of Check, Put, Update or Delete")
		}
		w, bad := b.prepare(op, *r)
		if bad != nil {
			return nil, bad
		}
		if seen[w.table.name] == nil {
			seen[w.table.name] = map[key]bool{}
		}
		if seen[w.table.name][w.key] {
			return nil, validation("Transaction request cannot include multiple operations on one item")
		}
		seen[w.table.name][w.key] = true
		reason := cancelReason{Code: "None"}
		if !w.holds {
			stopped = true
			e := w.conditionFailed(r.ReturnValuesOnConditionCheckFailure)
			reason = cancelReason{Code: "ConditionalCheckFailed", Message: e.Message, Item: e.item}
		}
		list, reasons = append(list, w), append(reasons, reason)
	}
	if stopped {
		return nil, cancelled(reasons)
	}
	return b.commit(c, in.TransactItems, list, in.ReturnConsumedCapacity), nil
}

func cancelled(reasons []cancelReason) *Error {
	codes := make([]string, len(reasons))
	for i, r := range reasons {
		codes[i] = r.Code
	}
	return &Error{
		Status: http.StatusBadRequest, Code: "TransactionCanceledException", reasons: reasons,
		Message: "Transaction cancelled, please refer cancellation reasons for specific reasons [" + strings.Join(codes, ", ") + "]",
	}
}

// commit carries out a transaction, which costs twice as much as its writes.
func (b *Backend) commit(c *Call, parts []transactWrite, list []prepared, want string) any {
	costs := map[string]*cost{}
	var order []string
	for i, w := range list {
		k := w.table.writeCost(w.before, nil)
		if op, _ := parts[i].request(); op != "ConditionCheck" {
			k = b.write(w.table, w.key, w.after)
		}
		if costs[k.table] == nil {
			costs[k.table] = &cost{}
			order = append(order, k.table)
		}
		costs[k.table].add(k)
	}
	var out struct {
		ConsumedCapacity []*consumedCapacity `json:",omitempty"`
	}
	for _, name := range order {
		if used := b.bill(c, costs[name].times(2), want); used != nil {
			out.ConsumedCapacity = append(out.ConsumedCapacity, used)
		}
	}
	return out
}
