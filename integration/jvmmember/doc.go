// Package jvmmember is a member of a job that behaves as one of ElasticJob 3.0.x does (see [Release]): it has the
// same listeners, waits and races, and writes the same nodes in the same order, each in a commit of
// its own. Tests put it beside Go instances of the same job.
//
//	r, err := store.Dial(ctx, memory.Config{…}) // or zk.Dial: a connection for each process
//	m, err := jvmmember.Start(ctx, jvmmember.Config{Registry: r, Job: "settle", …})
//	…
//	m.Crash() // kill -9; then r.Close, or let the session run out
//	<-m.Done()
//
// The tests compare it with what was recorded of the real 3.0.4 on ZooKeeper, by the transaction
// log of the server: the same writes, in the same order for each thread of each process.
//
// # A process
//
//	goroutine      in a JVM
//	timer.run      Quartz's scheduler and its one worker: a run, and nothing else meanwhile
//	follow         the cache: it shows what has changed, sooner or later, and puts it into a queue
//	listen         the one thread of all listeners: while one of them waits, the others do, too
//	minded         the connection: lost, then there again
//	reconcile      the look of every minute
//
// Reads go to the cache or to the store as they do in ElasticJob: whether a node is there, and what is below
// one, is asked of the store; what is in it, of the cache, and of the store if the cache does not have
// it. So who owns an item may be what a deal has changed since: see [Config.Lag]. The order of the listeners is an
// accident of each process there; see [Config.Order]. It decides, for one, whether a leader that is
// disabled asks for a deal before it steps down, or steps down and nobody does.
//
// # What is left out
//
// Job listeners, tracing, and SINGLE_SHARDING_BALANCE of 3.0.5. A clock that is too far off is told
// to the error handler there, and the run goes on: so only the node is written. A pool of type CPU
// is as large as it has to be. The cache holds everything from the start, where Curator's fills
// while the member starts.
package jvmmember
