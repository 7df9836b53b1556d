package extract

import "github.com/skitterhq/skitter/shared/extract/xmltoken"

// xmlSpaces puts the caller's prefixes for those of a document, by what they
// are declared to mean. The nil one leaves prefixes as they are written.
type xmlSpaces struct {
	prefixes map[string]string // the caller's, by namespace
	declared []declaration
}

// A declaration holds for the element that is so deep, and what is in it.
type declaration struct {
	depth     int
	prefix    string // "" for the default namespace
	namespace string
}

// newXMLSpaces takes namespaces by prefix; of none it is nil.
func newXMLSpaces(namespaces map[string]string) *xmlSpaces {
	if len(namespaces) == 0 {
		return nil
	}
	s := &xmlSpaces{prefixes: make(map[string]string, len(namespaces))}
	for prefix, namespace := range namespaces {
		s.prefixes[namespace] = prefix
	}
	return s
}

// enter takes what an element declares that is so deep.
func (s *xmlSpaces) enter(depth int, attrs []xmltoken.Attr) {
	if s == nil {
		return
	}
	for _, a := range attrs {
		switch {
		case a.Name.Prefix == "xmlns":
			s.declared = append(s.declared, declaration{depth, a.Name.Local, a.Value})
		case a.Name == xmltoken.Name{Local: "xmlns"}:
			s.declared = append(s.declared, declaration{depth, "", a.Value})
		}
	}
}

// leave forgets what elements declared that are deeper.
func (s *xmlSpaces) leave(depth int) {
	if s == nil {
		return
	}
	n := len(s.declared)
	for n > 0 && s.declared[n-1].depth > depth {
		n--
	}
	s.declared = s.declared[:n]
}

// element returns the prefix of an element.
func (s *xmlSpaces) element(name xmltoken.Name) string {
	if s == nil {
		return name.Prefix
	}
	for i := len(s.declared) - 1; i >= 0; i-- {
		if d := s.declared[i]; d.prefix == name.Prefix {
			if own, known := s.prefixes[d.namespace]; known {
				return own
			}
			break
		}
	}
	return name.Prefix
}

// attribute returns the prefix of an attribute; one without is in no namespace.
func (s *xmlSpaces) attribute(name xmltoken.Name) string {
	if s == nil || name.Prefix == "" {
		return name.Prefix
	}
	return s.element(name)
}
