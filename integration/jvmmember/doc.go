// Package jvmmember is a member of a job that behaves as one of ElasticJob 3.0.x does: it has the
// same listeners, waits and races, and writes the same nodes in the same order, each in a commit of
// its own. Tests put it beside Go instances of the same job.
package jvmmember
