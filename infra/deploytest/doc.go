// Package deploytest deploys the stack to moto with the CDK CLI, and compares
// what is there then with what package aws/provision creates of the same
// topology. What moto leaves out of a CloudFormation stack is named in it, and
// held against the template instead.
//
// It is for tests only.
package deploytest
