// Package xmltoken reads XML as it is found on the web: token after token, in
// bounded memory, and without an error for what is wrong in it.
//
// encoding/xml gives up at a control character, at "a < b" and at "--" in a
// comment; a [Reader] goes on. What it makes of faults:
//
//   - Control characters and bytes that are no UTF-8 are dropped or become
//     U+FFFD.
//   - The entities of XML and HTML are known, with their semicolon. Any other
//     one stays as it is written, and so does a "&" that begins none. Entities
//     that the document declares are never expanded, nothing outside is read.
//   - A "<" that begins no markup is text. A tag that lacks its ">" ends where
//     the next begins, and attributes need no quotes and no value.
//   - A document that was cut off gives what is there.
//
// End tags are given as they come, also those that close nothing. Who matches
// them with start tags decides what a wrong one means.
package xmltoken
