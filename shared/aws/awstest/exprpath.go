package awstest

import (
	"maps"
	"slices"
)

// find returns the value at a path.
func (it item) find(p path) (attribute, bool) {
	v, ok := it[p[0].name]
	for _, st := range p[1:] {
		if !ok {
			return attribute{}, false
		}
		v, ok = v.child(st)
	}
	return v, ok
}

func (a attribute) child(st step) (attribute, bool) {
	if st.name != "" {
		v, ok := a.M[st.name]
		return v, ok
	}
	if st.index >= len(a.L) {
		return attribute{}, false
	}
	return a.L[st.index], true
}

func badPath() *Error {
	return validation("The document path provided in the update expression is invalid for update")
}

// put sets the value at a path of an item that is the caller's own.
func (it item) put(p path, v attribute) *Error {
	if len(p) == 1 {
		it[p[0].name] = v
		return nil
	}
	parent, ok := it[p[0].name]
	if !ok {
		return badPath()
	}
	changed, err := parent.with(p[1:], &v)
	if err == nil {
		it[p[0].name] = changed
	}
	return err
}

// remove drops what is at a path of an item that is the caller's own, if it is
// there.
func (it item) remove(p path) *Error {
	if len(p) == 1 {
		delete(it, p[0].name)
		return nil
	}
	parent, ok := it[p[0].name]
	if !ok {
		return badPath()
	}
	changed, err := parent.with(p[1:], nil)
	if err == nil {
		it[p[0].name] = changed
	}
	return err
}

// with returns a with another value at a path, or with none for nil.
func (a attribute) with(p path, v *attribute) (attribute, *Error) {
	st := p[0]
	if st.name != "" && a.M == nil || st.name == "" && a.L == nil {
		return a, badPath()
	}
	if len(p) > 1 {
		child, ok := a.child(st)
		if !ok {
			return a, badPath()
		}
		changed, err := child.with(p[1:], v)
		if err != nil {
			return a, err
		}
		v = &changed
	}
	if st.name != "" {
		m := maps.Clone(a.M)
		if v == nil {
			delete(m, st.name)
		} else {
			m[st.name] = *v
		}
		return attribute{M: m}, nil
	}
	l := slices.Clone(a.L)
	switch {
	case v == nil && st.index < len(l):
		l = slices.Delete(l, st.index, st.index+1)
	case v == nil:
	case st.index < len(l):
		l[st.index] = *v
	default: // beyond the end is the end
		l = append(l, *v)
	}
	return attribute{L: l}, nil
}

// project returns what is at some paths of an item; the whole item for none.
func (it item) project(paths []path) item {
	if len(paths) == 0 {
		return it
	}
	out := item{}
	for _, p := range paths {
		v, ok := it.find(p)
		if !ok {
			continue
		}
		// An element comes inside what held it, alone.
		for i := len(p) - 1; i > 0; i-- {
			if p[i].name != "" {
				v = attribute{M: map[string]attribute{p[i].name: v}}
			} else {
				v = attribute{L: []attribute{v}}
			}
		}
		if have, ok := out[p[0].name]; ok {
			v = have.merge(v)
		}
		out[p[0].name] = v
	}
	return out
}

// merge joins two parts of one value.
func (a attribute) merge(b attribute) attribute {
	if a.L != nil {
		return attribute{L: append(slices.Clone(a.L), b.L...)}
	}
	m := maps.Clone(a.M)
	for name, v := range b.M {
		if have, ok := m[name]; ok {
			v = have.merge(v)
		}
		m[name] = v
	}
	return attribute{M: m}
}
