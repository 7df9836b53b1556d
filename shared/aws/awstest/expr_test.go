package awstest

import (
	"encoding/json"
	"strings"
	"testing"
)

// value reads a value as the protocol writes it.
func value(t *testing.T, s string) map[string]attribute {
	t.Helper()
	var m map[string]attribute
	if err := json.Unmarshal([]byte(s), &m); err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return m
}

const values = `{":1":{"N":"1"},":5":{"N":"5"},":9":{"N":"9.0"},":s":{"S":"he"},":t":{"S":"S"},":b":{"B":"aGU="},
	":ss":{"SS":["a","z"]},":ns":{"NS":["2"]},":l":{"L":[{"N":"7"}]},":x":{"BOOL":true},":m":{"M":{"k":{"N":"5"}}}}`

const sample = `{"pk":{"S":"a"},"n":{"N":"5"},"s":{"S":"hello"},"b":{"B":"aGVsbG8="},"set":{"SS":["a","b"]},"nset":{"NS":["1","2"]},
	"l":{"L":[{"N":"1"},{"S":"two"},{"N":"3"}]},"m":{"M":{"k":{"N":"5"},"deep":{"M":{"er":{"S":"x"}}}}},"yes":{"BOOL":true},"nil":{"NULL":true},"state":{"S":"open"}}`

func TestConditions(t *testing.T) {
	it := item(value(t, sample))
	for source, want := range map[string]bool{
		"n = :5": true, "n = :1": false, "n <> :1": true, "n < :9": true, "n <= :5": true, "n > :5": false, "n >= :5": true, ":5 = n": true,
		"nought = :5": false, "nought <> :5": true, "nought < :5": false, "n < :s": false, "n = :s": false, "n <> :s": true,
		"n BETWEEN :1 AND :9": true, "n BETWEEN :9 AND :1": false, "n between :1 and :5 AND s = :s": false,
		"n IN (:1, :5)": true, "n IN (:1)": false, "nought IN (:1)": false,
		"attribute_exists(n)": true, "attribute_exists(nought)": false, "attribute_not_exists(nought)": true, "attribute_exists(m.deep.er)": true,
		"attribute_exists(l[2])": true, "attribute_exists(l[3])": false, "attribute_exists(n.k)": false,
		"begins_with(s, :s)": true, "begins_with(b, :b)": true, "begins_with(s, :b)": false, "begins_with(n, :s)": false,
		"contains(s, :s)": true, "contains(#set, :t)": false, "attribute_type(s, :t)": true, "attribute_type(n, :t)": false,
		"size(s) = :5": true, "size(l) > :1": true, "size(n) = :1": false, "size(nought) < :9": false,
		"NOT n = :5": false, "NOT nought = :5": true, "NOT NOT n = :5": true,
		"n = :1 OR n = :5 AND s = :s": false, "n = :5 OR n = :1 AND s = :s": true, "(n = :5 OR n = :1) AND s = :s": false,
		"NOT n = :1 AND n = :5": true, "NOT (n = :1 AND n = :5)": true, "#state = :s or n=:5": true,
		"m = :m": false, "m.k = :5": true, "yes = :x": true, "l[0] = :1": true,
	} {
		p := &placeholders{names: map[string]string{"#set": "set", "#state": "state"}, values: value(t, values), used: map[string]bool{}}
		c, err := parse("ConditionExpression", source, p, (*parser).condition)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got := c.holds(it); got != want {
			t.Errorf("%s: %v", source, got)
		}
	}
}

func TestBadExpressions(t *testing.T) {
	for source, want := range map[string]string{
		"": "can not be empty", "n =": "<EOF>", "n = :5 n": "Syntax error", "(n = :5": "<EOF>", "n == :5": "Syntax error", "n = 5": "Syntax error",
		"n = :none": ":none", "#none = :5": "#none", "state = :5": "reserved keyword: state", "m.name = :5": "reserved keyword: name",
		"foo(n)": "Invalid function name; function: foo", "attribute_exists(:5)": "document path", "attribute_exists(n, s)": "number of operands",
		"begins_with(n, :5)": "operand type: N", "n < :x": "operand type: BOOL", "n & :5": "Syntax error", "l[x] = :5": "Syntax error",
		strings.Repeat("n = :5 OR ", 500) + "n = :5": "maximum allowed size", "n BETWEEN :1 OR :5": "Syntax error", "n IN :1": "Syntax error",
	} {
		p := &placeholders{values: value(t, values), used: map[string]bool{}}
		_, err := parse("ConditionExpression", source, p, (*parser).condition)
		if err == nil || err.Code != "ValidationException" || !strings.Contains(err.Message, want) {
			t.Errorf("%.40s: %v, want %q", source, err, want)
		}
	}
}

func TestUpdates(t *testing.T) {
	for source, want := range map[string]string{
		"SET n = :1":                                    `{"n":{"N":"1"}}`,
		"set n = n + :1, n2 = n - :9":                   `{"n":{"N":"6"},"n2":{"N":"-4"}}`,
		"SET n = if_not_exists(n, :1) + :5":             `{"n":{"N":"10"}}`,
		"SET q = if_not_exists(q, :1) + :5":             `{"q":{"N":"6"}}`,
		"SET l = list_append(l, :l)":                    `{"l":{"L":[{"N":"1"},{"S":"two"},{"N":"3"},{"N":"7"}]}}`,
		"SET l[1] = :5, l[9] = :1":                      `{"l":{"L":[{"N":"1"},{"N":"5"},{"N":"3"},{"N":"1"}]}}`,
		"SET m.k = :1, m.j = m.k":                       `{"m":{"M":{"k":{"N":"1"},"j":{"N":"5"},"deep":{"M":{"er":{"S":"x"}}}}}}`,
		"SET m.deep.er = :5 REMOVE m.k":                 `{"m":{"M":{"deep":{"M":{"er":{"N":"5"}}}}}}`,
		"REMOVE n, nought, l[0], l[1]":                  `{"n":null,"l":{"L":[{"N":"3"}]}}`,
		"ADD n :1, q :5, #set :ss, nset :ns SET s = :s": `{"n":{"N":"6"},"q":{"N":"5"},"set":{"SS":["a","b","z"]},"nset":{"NS":["1","2"]},"s":{"S":"he"}}`,
		"DELETE #set :ss, nought :ss":                   `{"set":{"SS":["b"]}}`,
		"DELETE nset :ns REMOVE s":                      `{"nset":{"NS":["1"]},"s":null}`,
	} {
		before := item(value(t, sample))
		p := &placeholders{names: map[string]string{"#set": "set"}, values: value(t, values), used: map[string]bool{}}
		u, err := parse("UpdateExpression", source, p, (*parser).update)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		after, err := u.apply(before)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		expected := item(value(t, sample))
		for name, v := range value(t, want) {
			if expected[name] = v; v.kind() == "" {
				delete(expected, name)
			}
		}
		if !(attribute{M: after}).equal(attribute{M: expected}) {
			got, _ := json.Marshal(after)
			t.Errorf("%s: %s", source, got)
		}
		if !(attribute{M: before}).equal(attribute{M: value(t, sample)}) {
			t.Errorf("%s changed the item as it was", source)
		}
	}
}

func TestBadUpdates(t *testing.T) {
	for source, want := range map[string]string{
		"SET n = :1 SET s = :s": "only be used once", "SET n = :1, n = :5": "overlap", "SET m.k = :1, m = :m": "overlap", "SET": "<EOF>",
		"SET n :1": "Syntax error", "ADD s :s": "operand type: S", "DELETE n :1": "operand type: N", "SET n = nought": "does not exist in the item",
		"SET n = s + :1": "incorrect data type", "ADD s :1": "incorrect data type", "SET nought.k = :1": "invalid for update", "SET n.k = :1": "invalid for update",
		"SET n = foo(n, :1)": "Invalid function name", "SET n = :1 + :5 + :9": "Syntax error", "n = :1": "Syntax error", "ADD n :ss": "incorrect data type",
	} {
		p := &placeholders{values: value(t, values), used: map[string]bool{}}
		u, err := parse("UpdateExpression", source, p, (*parser).update)
		if err == nil {
			_, err = u.apply(value(t, sample))
		}
		if err == nil || err.Code != "ValidationException" || !strings.Contains(err.Message, want) {
			t.Errorf("%s: %v, want %q", source, err, want)
		}
	}
}

func TestNumbersAreExact(t *testing.T) {
	for _, c := range []struct{ x, y, sum string }{
		{"9223372036854775807", "1", "9223372036854775808"}, {"0.1", "0.2", "0.3"}, {"-5", "5", "0"}, {"1e20", "1", "100000000000000000001"},
		{"1E-2", "-0.01", "0"}, {"0.0", "7.10", "7.1"}, {"-0.5", "-0.5", "-1"}, {"9223372036854775807", "9223372036854775807", "18446744073709551614"},
	} {
		if got, err := addNumbers(c.x, c.y, false); err != nil || got != c.sum {
			t.Errorf("%s + %s = %s, %v; want %s", c.x, c.y, got, err, c.sum)
		}
	}
	for _, s := range []string{"", "x", "1.2.3", "--1", "1e", "0x1", "Infinity", strings.Repeat("1", 39), "1e126", "1e-131", " 1"} {
		if d, err := parseNumber(s); err == nil {
			t.Errorf("%q was read as %v", s, d)
		}
	}
	sorted := []string{"-1e125", "-100", "-99.5", "-99", "-1", "-0.5", "-1e-130", "0", "1e-130", "0.05", "0.5", "1", "1.5", "2", "10", "11", "99", "100", "1e125"}
	for i, x := range sorted {
		for j, y := range sorted {
			dx, err := parseNumber(x)
			dy, err2 := parseNumber(y)
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			if got, want := dx.compare(dy), compareInts(i, j); got != want {
				t.Errorf("%s and %s: %d, want %d", x, y, got, want)
			}
		}
	}
}

func compareInts(i, j int) int {
	switch {
	case i < j:
		return -1
	case i > j:
		return 1
	}
	return 0
}

func TestSizes(t *testing.T) {
	for source, want := range map[string]int{
		`{"ab":{"S":"é"}}`: 4, `{"a":{"N":"0"}}`: 2, `{"a":{"N":"12"}}`: 3, `{"a":{"N":"-123"}}`: 5, `{"a":{"N":"1.2"}}`: 4, `{"a":{"N":"100"}}`: 3,
		`{"a":{"B":"aGVsbG8="}}`: 6, `{"a":{"BOOL":true},"b":{"NULL":true}}`: 4, `{"a":{"L":[]}}`: 4, `{"a":{"L":[{"S":"x"},{"S":"y"}]}}`: 8,
		`{"a":{"M":{"k":{"S":"xy"}}}}`: 8, `{"a":{"SS":["xy","z"]}}`: 4, `{"a":{"S":""},"b":{"B":""}}`: 2,
	} {
		if got := item(value(t, source)).size(); got != want {
			t.Errorf("%s: %d, want %d", source, got, want)
		}
	}
}

func TestReservedWordsAreAllThere(t *testing.T) {
	if len(reserved) != 573 {
		t.Errorf("%d words, want 573", len(reserved))
	}
}
