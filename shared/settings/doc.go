// Package settings holds every knob of a job: Scrapy's name, meaning, unit and
// default, where it comes from, and how a value that a person wrote is read.
//
// One table ([Definitions]) says all of that; parsing, listing and the docs
// come from it. [Resolve] lays what people wrote over the defaults and reports
// every bad value at once.
//
// What a setting does is the business of the part that it is handed to: the
// middlewares, the handlers, the slots. Names of queues and tables, memory
// sizes and time-outs of functions are no settings of a job; they belong to
// package topology.
package settings
