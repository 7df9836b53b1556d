// Package yamlspider reads spiders that are written in YAML: legs and their
// options, and no Go.
//
//	name: quotes
//	start_urls: ['https://quotes.example/']
//	parse:
//	  - fields:
//	      each: div.quote
//	      fields: {text: 'span.text::text', author: 'small.author::text'}
//	  - pagination: {next: 'li.next a::attr(href)'}
//
// [Load] makes a spider.Spider like any other of such a text, or tells all that
// is wrong with it, each mistake with its line and column ([Mistakes]). The
// file is a [File], its legs are those of legs.Kinds; docs/yaml.md is the page
// for those who write them. [Schema] is the JSON Schema by which editors
// complete and check.
package yamlspider
