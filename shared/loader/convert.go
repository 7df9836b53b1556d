package loader

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
)

var (
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	timeType        = reflect.TypeFor[time.Time]()
	durationType    = reflect.TypeFor[time.Duration]()
	numberType      = reflect.TypeFor[json.Number]()
)

// A conversion puts values into Go variables of other types. Numbers that would
// lose digits are errors, except the fractions of floats.
type conversion struct{ layouts []string }

func (c conversion) set(dst reflect.Value, value any) error {
	if value == nil {
		return nil
	}
	t := dst.Type()
	if v := reflect.ValueOf(value); v.Type().AssignableTo(t) {
		dst.Set(v)
		return nil
	}
	if t.Kind() == reflect.Pointer {
		made := reflect.New(t.Elem())
		if err := c.set(made.Elem(), value); err != nil {
			return err
		}
		dst.Set(made)
		return nil
	}
	if t == timeType {
		return c.time(dst, value)
	}
	if done, err := ownReading(dst, value); done {
		return err
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() != reflect.Uint8 {
			return c.list(dst, listOf(value))
		}
	case reflect.Map:
		return c.object(dst, value)
	case reflect.Struct:
		return c.object(dst, value)
	}
	s, err := textOf(value)
	if err != nil {
		return wantsOne(dst, value)
	}
	return setText(dst, s)
}

// wantsOne is the error of a list or an object for a field with one value.
func wantsOne(dst reflect.Value, value any) error {
	hint := ""
	if isList(value) {
		hint = `; an output processor such as take_first or join makes one value of it`
	}
	return fmt.Errorf("is %s, and the field is %s%s", describe(value), dst.Type(), hint)
}

// ownReading lets a type read itself, if it can.
func ownReading(dst reflect.Value, value any) (done bool, err error) {
	if dst.Type() == numberType || !dst.CanAddr() {
		return false, nil
	}
	at := dst.Addr().Interface()
	if u, ok := at.(encoding.TextUnmarshaler); ok {
		if s, err := textOf(value); err == nil {
			return true, u.UnmarshalText([]byte(s))
		}
	}
	if u, ok := at.(json.Unmarshaler); ok {
		raw, err := json.Marshal(value)
		if err != nil {
			return true, err
		}
		return true, u.UnmarshalJSON(raw)
	}
	return false, nil
}

func (c conversion) time(dst reflect.Value, value any) error {
	s, err := textOf(value)
	if err != nil {
		return wantsOne(dst, value)
	}
	layouts := c.layouts
	if len(layouts) == 0 {
		layouts = []string{time.RFC3339}
	}
	t, err := parseTime(s, layouts)
	if err != nil {
		return fmt.Errorf("%w; name the field's Layouts", err)
	}
	dst.Set(reflect.ValueOf(t))
	return nil
}

func (c conversion) list(dst reflect.Value, list []any) error {
	if dst.Kind() == reflect.Array {
		if len(list) != dst.Len() {
			return fmt.Errorf("has %d values, and the field takes %d", len(list), dst.Len())
		}
	} else {
		dst.Set(reflect.MakeSlice(dst.Type(), len(list), len(list)))
	}
	for i, v := range list {
		if err := c.set(dst.Index(i), v); err != nil {
			return fmt.Errorf("value %d, %s: %w", i+1, excerpt(v), err)
		}
	}
	return nil
}

// object fills a struct or a map. As in encoding/json, a struct takes the fields
// that it has.
func (c conversion) object(dst reflect.Value, value any) error {
	item, err := crawl.NewItem(value)
	if err != nil {
		return wantsOne(dst, value)
	}
	fields, err := item.Fields()
	if err != nil {
		return err
	}
	var s *shape
	if dst.Kind() == reflect.Struct {
		s = shapeOf(dst.Type())
	} else {
		dst.Set(reflect.MakeMap(dst.Type()))
	}
	for _, f := range fields {
		if s != nil {
			if _, ok := s.field(f.Name); !ok {
				continue
			}
		}
		if err := setField(dst, s, f, c.layouts); err != nil {
			return fmt.Errorf("%s, %s: %w", f.Name, excerpt(f.Value), err)
		}
	}
	return nil
}

func (c conversion) mapValue(dst reflect.Value, name string, value any) error {
	if dst.Type().Key().Kind() != reflect.String {
		return fmt.Errorf("the field is %s, whose keys are no texts", dst.Type())
	}
	made := reflect.New(dst.Type().Elem()).Elem()
	if err := c.set(made, value); err != nil {
		return err
	}
	dst.SetMapIndex(reflect.ValueOf(name).Convert(dst.Type().Key()), made)
	return nil
}

// setText reads a text as what the variable takes.
func setText(dst reflect.Value, s string) error {
	t := dst.Type()
	trimmed := strings.TrimSpace(s)
	switch {
	case t == numberType:
		n, err := numberOf(s)
		if err != nil {
			return err
		}
		dst.SetString(string(n))
	case t == durationType && !allDigits(trimmed):
		d, err := time.ParseDuration(trimmed)
		if err != nil {
			return errors.New(`is no duration, such as "90s" or "1h30m"`)
		}
		dst.SetInt(int64(d))
	case t.Kind() == reflect.String:
		dst.SetString(s)
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		dst.SetBytes([]byte(s))
	case t.Kind() == reflect.Bool:
		b, err := strconv.ParseBool(strings.ToLower(trimmed))
		if err != nil {
			return errors.New(`is neither true nor false; "to_bool" reads yes and no, too`)
		}
		dst.SetBool(b)
	case dst.CanInt(), dst.CanUint(), dst.CanFloat():
		return setNumber(dst, s)
	default:
		return fmt.Errorf("cannot be put into %s", t)
	}
	return nil
}

func setNumber(dst reflect.Value, s string) error {
	n, err := numberOf(s)
	if err != nil {
		return err
	}
	if dst.CanFloat() {
		f, err := strconv.ParseFloat(string(n), dst.Type().Bits())
		if err != nil || math.IsInf(f, 0) {
			return fmt.Errorf("does not fit into %s", dst.Type())
		}
		dst.SetFloat(f)
		return nil
	}
	whole, ok := wholeNumber(string(n))
	if !ok {
		return errors.New("is no whole number")
	}
	if dst.CanInt() {
		i, err := strconv.ParseInt(whole, 10, dst.Type().Bits())
		if err != nil {
			return fmt.Errorf("does not fit into %s", dst.Type())
		}
		dst.SetInt(i)
		return nil
	}
	u, err := strconv.ParseUint(whole, 10, dst.Type().Bits())
	if err != nil {
		return fmt.Errorf("does not fit into %s", dst.Type())
	}
	dst.SetUint(u)
	return nil
}
