// Package assembly builds the engine for a place to run in, and drives it
// there: on one machine over package local, in the cloud over package aws.
//
// It wires and decides nothing: what the stages do is in package engine, which
// parts run round them in the project's own lists.
package assembly
