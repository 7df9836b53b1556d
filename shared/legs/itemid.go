package legs

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strings"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/spider"
)

const nameItemID = "item_id"

// ItemID gives each item an identifier, which is a hash of some of its fields:
// SEP-016's ItemIdSetter. Items with the same values there have the same
// identifier, whatever the order of the fields is, however a number is written
// (12.5, 12.50 and 1.25e1 are one), and in every crawl.
//
// What is hashed is the fields as JSON in UTF-8: an object without blanks, its
// names sorted, & < and > as they are, integers of up to 40 digits as they are
// and other numbers as digits and an exponent (125e-1).
type ItemID struct {
	// Name is the leg's name, unique in its spider.
	//
	// Default: item_id.
	Name string `json:"name,omitempty"`

	// IDField is the field that takes the identifier. What the item has
	// there is replaced.
	//
	// Default: guid.
	IDField string `json:"id_field,omitempty"`

	// IDFieldsToHash are the fields that make the identifier.
	//
	// Default: all of the item but id_field.
	IDFieldsToHash []string `json:"id_fields_to_hash,omitempty"`

	// Hash is sha1 (40 hexadecimal digits) or sha256 (64).
	//
	// Default: sha1.
	Hash string `json:"hash,omitempty"`

	// Missing says what becomes of an item that lacks one of the fields, or
	// has null there: fail is an error of the page, drop drops the item,
	// keep leaves it without an identifier, and empty hashes null in its place.
	//
	// Default: fail.
	Missing string `json:"missing,omitempty"`
}

// Leg makes the leg.
func (o ItemID) Leg() spider.Leg {
	name := nameOr(o.Name, nameItemID)
	return spider.Leg{Name: name, SetSpider: func(*spider.Spider) (spider.Leg, error) {
		o, err := o.complete()
		return spider.Leg{Name: name, ProcessItem: func(_ context.Context, _ *spider.Page, item *crawl.Item) (*crawl.Item, error) {
			return o.identify(item)
		}}, err
	}}
}

// complete fills in the defaults.
func (o ItemID) complete() (ItemID, error) {
	var m mistakes
	o.IDField = nameOr(o.IDField, "guid")
	o.Hash = nameOr(o.Hash, "sha1")
	o.Missing = nameOr(o.Missing, "fail")
	m.add("hash", oneOf(o.Hash, "sha1", "sha256"))
	m.add("missing", oneOf(o.Missing, "fail", "drop", "keep", "empty"))
	for _, field := range o.IDFieldsToHash {
		switch field {
		case "":
			m.add("id_fields_to_hash", fmt.Errorf("an empty name: give names of fields"))
		case o.IDField:
			m.add("id_fields_to_hash", fmt.Errorf("%q is id_field itself, which takes the hash", field))
		}
	}
	return o, m.err()
}

func (o ItemID) identify(item *crawl.Item) (*crawl.Item, error) {
	fields, err := item.Fields()
	if err != nil {
		return nil, err
	}
	values := make(map[string]any, len(fields))
	for _, f := range fields {
		if f.Name != o.IDField {
			values[f.Name] = f.Value
		}
	}
	if len(o.IDFieldsToHash) > 0 {
		chosen := make(map[string]any, len(o.IDFieldsToHash))
		for _, name := range o.IDFieldsToHash {
			if chosen[name] = values[name]; chosen[name] != nil || o.Missing == "empty" {
				continue
			}
			switch o.Missing {
			case "drop":
				return nil, nil
			case "keep":
				return item, nil
			}
			return nil, fmt.Errorf("an item has no field %q to make its identifier of; it has %s", name, strings.Join(slices.Sorted(maps.Keys(values)), ", "))
		}
		values = chosen
	}
	id, err := o.sum(values)
	if err != nil {
		return nil, err
	}
	return item, item.Set(o.IDField, id)
}

// sum is the hash of the values as JSON: names sorted, numbers in one form.
func (o ItemID) sum(values map[string]any) (string, error) {
	text, err := json.Marshal(values)
	if err != nil {
		return "", err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var plain any
	if err := dec.Decode(&plain); err != nil {
		return "", err
	}
	var written bytes.Buffer
	enc := json.NewEncoder(&written)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(normalNumbers(plain)); err != nil {
		return "", err
	}
	var h hash.Hash = sha1.New()
	if o.Hash == "sha256" {
		h = sha256.New()
	}
	h.Write(bytes.TrimSuffix(written.Bytes(), []byte("\n")))
	return hex.EncodeToString(h.Sum(nil)), nil
}

// normalNumbers writes each number in the one form of [normalNumber].
func normalNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		return json.RawMessage(normalNumber(string(v)))
	case []any:
		for i := range v {
			v[i] = normalNumbers(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = normalNumbers(v[name])
		}
	}
	return v
}

// oneOf reports a value that is not one of those there are.
func oneOf(value string, there ...string) error {
	if slices.Contains(there, value) {
		return nil
	}
	return fmt.Errorf("%q is not known; there are %s", value, strings.Join(there, ", "))
}
