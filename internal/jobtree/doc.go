// Package jobtree is the one place that knows the paths of a job's nodes, and the
// values that they hold. Paths and values are those of ElasticJob 3.0.x, so JVM
// instances of a job, and the tools of an operator, can share its tree with ours.
// They do not know the nodes that are ours alone, and leave them as they are:
//
//	sessions/{id}, faults/{id}        of an instance; faults also of a Runner that cannot be one,
//	                                  with the id of its process
//	schedule                          since when it is in force, and a pause
//	sharding/{item}/fired, completed  the last claim and the last end of an item
//	sharding/{item}/original          which execution is run again
//	cursor/{item}                     how far its handler has come
//	kill/{item}                       that its run is to end
//	pins/{item}                       to whom it belongs
//	guarantee/{tick}, …/{item}        what once-listeners are told of a tick; JVM members have other
//	                                  values there
//	requests/{id}, …/{item}           what is to run beside the schedule, and how far it has come
//
// Below ~elasticjob the namespace has what belongs to no job:
//
//	nodes/{id}                        of a process: how many items of all jobs it has, and what
//	                                  it offers if it is a Runner
//	calendars/{name}                  days and hours that jobs leave out
//	migration, …/{job}                the lock of migrations; jobs that are on their way from or to another namespace
//
// What others may write there is bounded and read strictly; a value that cannot be read has
// no effect.
//
// [Job] gives the paths, the Encode and Decode functions write and read the values,
// [Read] turns a snapshot into a typed [State] in one pass, and [State.Follow] takes in what
// has changed since. One table has the kinds of nodes, and [Meaning] says what they are for.
//
// Reading never fails, because others write to the tree, too. A node whose name has no
// meaning (a child of sharding that is no item number) is left out. A node whose value
// cannot be read has an Err. Faults and completions are decoded only on request, because
// few callers need them.
//
// Not promised: that the nodes of a State agree with each other. A member may have died
// in the middle of something, an operator may have removed a node, and a JVM member
// changes the tree in several commits.
package jobtree
