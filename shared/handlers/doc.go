// Package handlers holds what stands at the end of the downloader's chain and
// opens the connection.
//
// [HTTP] serves http and https over one pool of kept-alive connections for the
// whole process; [HTTPHandler.ForJob] gives each job a view of it with the
// job's settings. [ByScheme] chooses among handlers by the scheme of the URL.
//
// A handler fetches once: it follows no redirect, sets no header of its own
// and does not unpack the body. That, and what becomes of a failure, is left
// to package downloadermw; whose turn it is, to package slots; which addresses
// may be dialled, to the guard that [Options] is given.
package handlers
