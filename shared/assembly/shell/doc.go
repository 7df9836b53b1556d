// Package shell tries selectors on a page, line by line: what `skitter shell`
// runs. A [Shell] works off lines, wherever they come from; a [Terminal] reads
// them from somebody who types, with editing and a history.
package shell
