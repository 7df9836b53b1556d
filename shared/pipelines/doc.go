// Package pipelines holds the pipeline steps that are shipped, one a file. What
// a step is, and what its errors mean, is said in package pipeline.
package pipelines
