// Package assembly builds what a process keeps for each job out of a project.
// Its folders put the engine round it: machine on one machine, over package
// local, cloud over package aws.
//
// It wires and decides nothing: what the stages do is in package engine, which
// parts run round them in the project's own lists.
package assembly
