package loader

import (
	"fmt"
	"slices"
	"strings"
)

// A Kind is a processor that YAML and JSON can name.
type Kind struct {
	// Name is how a definition in YAML and [Named] call the processor.
	Name string

	// Args are its arguments in their order; nil if it takes none.
	Args []Arg

	// Doc says in a sentence what it does.
	Doc string

	build func(a arguments) Processor
}

// An Arg is an argument of a processor.
type Arg struct {
	// Name is how errors and the docs call the argument.
	Name string

	// Type is text, texts, bool or processors. Texts and processors take all
	// the arguments that are left.
	Type string

	// Required arguments have no default.
	Required bool

	// Default is what an argument that is not given stands for, as a reader is
	// told.
	Default string
}

// Argument types.
const (
	argText       = "text"
	argTexts      = "texts"
	argBool       = "bool"
	argProcessors = "processors"
)

// Kinds lists the processors that have a name, in the order of their names.
func Kinds() []Kind { return slices.Concat(kindsOfLists(), kindsOfTexts(), kindsOfValues()) }

func required(name, kind string) Arg { return Arg{Name: name, Type: kind, Required: true} }

func kindsOfLists() []Kind {
	return []Kind{
		{"compose", []Arg{required("processors", argProcessors), {"stop_on_none", argBool, false, "true"}}, "Runs processors one after the other on the whole value.", func(a arguments) Processor {
			return compose(a.processors("processors"), a.bool("stop_on_none", true))
		}},
		{"identity", nil, "Returns the value as it is.", func(arguments) Processor { return Identity() }},
		{"join", []Arg{{"separator", argText, false, `" "`}}, "Makes one text of the values.", func(a arguments) Processor { return Join(a.text("separator", " ")) }},
		{"map_compose", []Arg{required("processors", argProcessors)}, "Runs processors one after the other on each value; results of null are left out, and lists are spread.", func(a arguments) Processor {
			return MapCompose(a.processors("processors")...)
		}},
		{"take_first", nil, "Takes the first value that is not empty.", func(arguments) Processor { return TakeFirst() }},
		{"unique", nil, "Leaves out values that were there before.", func(arguments) Processor { return Unique() }},
	}
}

func kindsOfTexts() []Kind {
	return []Kind{
		{"lower", nil, "Makes texts lower case.", func(arguments) Processor { return Lower() }},
		{"normalize_space", nil, "Makes runs of white space one blank, and none at the ends.", func(arguments) Processor { return NormalizeSpace() }},
		{"re", []Arg{required("pattern", argText)}, "Takes the matches of a regular expression, or what its groups match.", func(a arguments) Processor { return Re(a.text("pattern", "")) }},
		{"remove_tags", []Arg{{"tags", argTexts, false, "all"}}, "Takes tags out of HTML and leaves the text.", func(a arguments) Processor { return RemoveTags(a.texts("tags")...) }},
		{"replace", []Arg{required("old", argText), {"with", argText, false, `""`}}, "Replaces a text.", func(a arguments) Processor { return Replace(a.text("old", ""), a.text("with", "")) }},
		{"replace_entities", nil, "Replaces entities such as &eacute; by their characters.", func(arguments) Processor { return ReplaceEntities() }},
		{"replace_re", []Arg{required("pattern", argText), {"with", argText, false, `""`}}, "Replaces what a regular expression matches.", func(a arguments) Processor { return ReplaceRe(a.text("pattern", ""), a.text("with", "")) }},
		{"strip", []Arg{{"characters", argText, false, "white space"}}, "Cuts white space, or the characters given, off at both ends.", func(a arguments) Processor { return Strip(a.text("characters", "")) }},
		{"upper", nil, "Makes texts upper case.", func(arguments) Processor { return Upper() }},
	}
}

func kindsOfValues() []Kind {
	return []Kind{
		{"absolute_url", nil, "Resolves addresses against the page's.", func(arguments) Processor { return AbsoluteURL() }},
		{"price", []Arg{{"decimal", argText, false, "told by the number"}}, "Takes the one number out of a text.", func(a arguments) Processor { return Price(a.text("decimal", "")) }},
		{"select_jmes", []Arg{required("path", argText)}, "Evaluates a JMESPath expression on objects, or on texts that are JSON.", func(a arguments) Processor { return SelectJMES(a.text("path", "")) }},
		{"select_jsonpath", []Arg{required("path", argText)}, "Evaluates a JSONPath expression on objects, or on texts that are JSON.", func(a arguments) Processor { return SelectJSONPath(a.text("path", "")) }},
		{"to_bool", nil, "Reads true, yes, on, 1, false, no, off, 0.", func(arguments) Processor { return ToBool() }},
		{"to_float", nil, "Reads decimal numbers.", func(arguments) Processor { return ToFloat() }},
		{"to_int", nil, "Reads whole numbers.", func(arguments) Processor { return ToInt() }},
		{"to_time", []Arg{{"layouts", argTexts, false, "RFC 3339"}}, "Reads times by Go's layouts.", func(a arguments) Processor { return ToTime(a.texts("layouts")...) }},
	}
}

// usage shows how a kind is written: join(separator = " ").
func (k Kind) usage() string {
	if len(k.Args) == 0 {
		return k.Name + ", without arguments"
	}
	args := make([]string, len(k.Args))
	for i, a := range k.Args {
		args[i] = a.Name
		if !a.Required {
			args[i] = fmt.Sprintf("[%s, default %s]", a.Name, a.Default)
		}
	}
	return k.Name + "(" + strings.Join(args, ", ") + ")"
}
