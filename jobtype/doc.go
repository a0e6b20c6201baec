// Package jobtype has the data types of a job that programs, tools and the scheduler share. It runs nothing, and
// imports no scheduler: who reads or writes the configuration of a job needs no more than this package.
//
//	c, err := jobtype.DecodeConfig(document) // YAML of ElasticJob 3, or JSON of elastic-job 2.1
//	c.ShardingTotalCount = 6
//	document, err = c.Encode(document) // what Config has no field for is kept
//
// A program that runs jobs imports package job, which has [Config] and the types of its fields under the
// same names.
//
// It does not promise that a configuration can be run: whether a process has the strategy, the listeners and the error handlers
// that a configuration names is known only there.
package jobtype
