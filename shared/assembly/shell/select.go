package shell

import (
	"context"
	"fmt"
	"regexp"

	"github.com/skitterhq/skitter/shared/extract"
)

// A place can be asked: a page, or what was selected of it.
type place interface {
	CSS(selector string) extract.Selection
	XPath(expression string) extract.Selection
	JMESPath(expression string) extract.Selection
	JSONPath(expression string) extract.Selection
	Re(expression string) []string
}

// languages are the selectors' languages, by the command that asks in them.
func languages() map[string]func(at place, text string) extract.Selection {
	return map[string]func(at place, text string) extract.Selection{
		"css": place.CSS, "xpath": place.XPath, "jmespath": place.JMESPath, "jsonpath": place.JSONPath,
	}
}

// A stage is one selector of those that follow each other.
type stage struct{ language, text string }

// next matches what stands between two stages: a bar with blanks round it,
// before a language. XPath and JMESPath have bars of their own, which no
// language's name follows.
var next = regexp.MustCompile(`\s\|\s+(css|xpath|jmespath|jsonpath|re)\s`)

// stages splits what follows the first language.
func stages(language, rest string) []stage {
	var list []stage
	for {
		at := next.FindStringSubmatchIndex(rest)
		if at == nil {
			return append(list, stage{language, rest})
		}
		list = append(list, stage{language, rest[:at[0]]})
		language, rest = rest[at[2]:at[3]], rest[at[1]:]
	}
}

// selecting asks in a language, and prints each value that is found on a line
// of its own.
func selecting(language string) func(*Shell, context.Context, string) error {
	return func(s *Shell, _ context.Context, rest string) error {
		values, err := s.find(stages(language, rest))
		if err != nil {
			return err
		}
		for _, v := range values {
			fmt.Fprintln(s.Out, v)
		}
		fmt.Fprintf(s.Tell, "%d found\n", len(values))
		return nil
	}
}

// find works off the stages. A regular expression is the last, since what it
// finds is plain text.
func (s *Shell) find(list []stage) ([]string, error) {
	var at place = s.page
	var values []string
	for k, st := range list {
		if st.language == "re" {
			if k < len(list)-1 {
				return nil, fmt.Errorf("re gives plain texts, and nothing can follow it: leave out %s", list[k+1].language)
			}
			values = at.Re(st.text)
			break
		}
		found := languages()[st.language](at, st.text)
		if err := found.Err(); err != nil {
			return nil, err
		}
		at, values = found, found.All()
	}
	return values, s.page.Document().TakeErr()
}
