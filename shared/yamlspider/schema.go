package yamlspider

import (
	_ "embed"
	"slices"
)

//go:generate go test -run TestTheSchemaIsThatOfTheOptions . -update

//go:embed spider.schema.json
var schema []byte

// SchemaURL is where the JSON Schema of this package is published, for the first
// line of files outside of the project:
//
//	# yaml-language-server: $schema=URL
const SchemaURL = "https://raw.githubusercontent.com/skitterhq/skitter/main/docs/spider.schema.json"

// Schema returns the JSON Schema (2020-12) of a file, which is made of the legs'
// options and their doc comments; docs/spider.schema.json is the same.
func Schema() []byte { return slices.Clone(schema) }
