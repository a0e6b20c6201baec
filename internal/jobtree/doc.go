// Package jobtree is the one place that knows the node paths of a job and what
// stands in them. Names and values are those of ElasticJob 3.0.x, so that JVM
// instances of a job and an operator's tools can share its tree with ours.
//
// [Job] gives the paths, the Encode and Decode functions the values, and [Read]
// turns a snapshot into a typed [State] in one pass.
//
// Decoding never fails as a whole, because others write to the tree too: what
// cannot be understood is left out if its name is at fault (a child of sharding
// that is no item number), and carries an Err if its value is. What few ask for, faults
// and completions, is decoded only when somebody does.
//
// Not promised: that what a State shows is consistent with itself. A member may
// have died in the middle of something, an operator may have removed a node, and
// a JVM member changes the tree in several commits.
package jobtree
