// Package handlers holds what stands at the end of the downloader's chain and
// opens the connection, or the file.
//
// [HTTP] serves http and https over one pool of kept-alive connections for the
// whole process; [HTTPHandler.ForJob] gives each job a view of it with the
// job's settings. [Data] and [File] answer without a connection, [S3] by way of
// https. [ByScheme] chooses among handlers by the name that a request gives,
// else by the scheme of its URL; [Scope] keeps pages of the web from naming what
// is not of the web.
//
// A handler fetches once: it follows no redirect, sets no header of its own,
// but for S3's signature, and does not unpack the body. That, and what becomes of a failure, is left
// to package downloadermw; whose turn it is, to package slots; which addresses
// may be dialled, to the guard that [Options] is given.
package handlers
