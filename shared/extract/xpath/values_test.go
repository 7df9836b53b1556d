package xpath_test

import (
	"strings"
	"testing"

	"github.com/skitterhq/skitter/shared/extract/xpath"
	"golang.org/x/net/html"
)

func TestComparisonsAndNumbersAreThoseOfTheStandard(t *testing.T) {
	root, err := html.Parse(strings.NewReader("<p>5</p>"))
	if err != nil {
		t.Fatal(err)
	}
	for expression, want := range map[string]string{
		"true() > .5":                       "true",
		"true() >= 'x'":                     "false",
		"(1 div 0) <= true()":               "false",
		"'' < true()":                       "false", // '' is not a number
		"true() = 5":                        "true",
		"true() = 'x'":                      "true",
		"true() >= //p":                     "true",
		"//p > false()":                     "true",
		"//q < true()":                      "true",
		"//q = false()":                     "true",
		"//p = true()":                      "true",
		"//p > 4":                           "true",
		"//p < //p":                         "false",
		"//p <= //p":                        "true",
		"round(0.49999999999999994)":        "0",
		"round(-0.49999999999999994)":       "0",
		"round(4503599627370497)":           "4503599627370497",
		"round(9007199254740991)":           "9007199254740991",
		"round(-4503599627370497)":          "-4503599627370497",
		"round(2.5)":                        "3",
		"round(-2.5)":                       "-2",
		"round(-2.6)":                       "-3",
		"1 div round(-0.2)":                 "-Infinity",
		"1 div round(-0.5)":                 "-Infinity",
		"1 div round(0.2)":                  "Infinity",
		"round(1 div 0)":                    "Infinity",
		"round('x')":                        "NaN",
		"normalize-space('  a \t b\n\nc ')": "a b c",
		"normalize-space('a b')":            "a b",
		"normalize-space('   ')":            "",
		"re:replace('a1b2', '(\\d)', 'g', '<\\1>')": "a<1>b<2>",
		"re:replace('a1b2', '(\\d)', '', '<\\1$>')": "a<1$>b2",
		"re:replace('ab', 'x', 'g', 'y')":           "ab",
	} {
		e, err := xpath.Compile(expression)
		if err != nil {
			t.Fatal(err)
		}
		v, err := e.Evaluate(xpath.At(root), xpath.Options{HTML: true})
		if got := xpath.String(v); got != want || err != nil {
			t.Errorf("%s = %s, want %s (%v)", expression, got, want, err)
		}
	}
}

func TestStepsAreSharedByEvaluations(t *testing.T) {
	root, err := html.Parse(strings.NewReader(strings.Repeat("<p>x", 100)))
	if err != nil {
		t.Fatal(err)
	}
	e, err := xpath.Compile("count(//p)")
	if err != nil {
		t.Fatal(err)
	}
	steps := 1000
	opt := xpath.Options{HTML: true, Steps: &steps}
	done := 0
	for ; done < 10 && err == nil; done++ {
		_, err = e.Evaluate(xpath.At(root), opt)
	}
	if err == nil || !strings.Contains(err.Error(), "at the nodes that were selected before") || done < 2 || done > 6 {
		t.Errorf("%d evaluations, %v", done, err)
	}
}
