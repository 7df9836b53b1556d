// Package robots reads robots.txt and answers what it allows (RFC 9309).
//
// Real files are full of faults, and none of them makes Parse fail: a line that
// means nothing is skipped, and a file of such lines, as an HTML page is,
// forbids nothing.
//
// Where the RFC is silent or others read it differently, the choices are:
//
//   - A product token is compared whole and in any case: rules for "bot" are
//     not for "mybot". Digits belong to a token.
//   - Rule and URL are compared with their escapes written alike: "%7e" is "~"
//     and "é" is "%C3%A9", but "%2F" is no slash.
//   - Unknown lines, Sitemap and Crawl-delay among them, do not end a group.
//   - "Allow: /dir/index.html" allows "/dir/", as at Google.
//
// Fetching the file, following its redirects, keeping it for its time and
// waiting when it cannot be had are left to package downloadermw; obeying the
// crawl delay, to package slots.
package robots
