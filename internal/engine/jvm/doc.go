// Package jvm is what an instance does beside members of ElasticJob, which run on the JVM and share the job on
// ZooKeeper. The rules are in package decide ([decide.Mixed]); here is what they need that takes time: a place in
// ElasticJob's queue for failover, and patience with what JVM members are to do themselves.
//
// [Queue] and [Members] belong to the goroutine of the job's loop.
package jvm
