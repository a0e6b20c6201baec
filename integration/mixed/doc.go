// Package mixed lets JVM members (package jvmmember) and Go instances run one job together, and
// counts what becomes of each tick of each item:
//
//	go test ./integration/mixed                              all rows, both migrations, a short soak
//	go test ./integration/mixed -run TestD4 -v -seeds 20     one row, with more seeds
//	go test ./integration/mixed -run TestD4 -v -alone        what JVM members alone make of it
//	go test ./integration/mixed -run TestSoak -v -full       an hour of simulated ticks
//
// Most of it runs on the simulated store in virtual time: members start, leave, are killed, and
// operators interfere, while each request takes a time that a seed draws. A few scenarios also run on a
// real ZooKeeper, where nothing is made slow.
//
// Each scenario of a row is played with caches of JVM members that are never behind, so that whatever goes wrong
// shows. Then it is played with caches that are behind, as Curator's are: by some milliseconds, and at one change in a
// hundred by up to 2 s; and beside that by JVM members alone, which must not do better by more than one race. In the
// soak they are behind, too.
//
// # What is counted
//
// All counts are of item-ticks: one item at one time by cron.
//
//	missed       nobody began the item for the tick, and no make-up stands for it
//	orphaned     those of them whose owner had been killed, and whose session had not ended, or was
//	             killed in the first second of the tick; or nobody was there
//	doubled      begun more than once for the tick, runs after a failover excepted; also a make-up
//	             for which no tick was missed, and a failover of nothing
//	swept along  run again by a JVM that made up for other items: it runs all items of a fire, in the
//	             real one, too
//	late         begun more than 2 s after the tick, or by a make-up
//	overlapping  two executions of an item at a time
//	among JVMs   those of them that are both of JVM members: after a deal the cache of one may still show it as
//	             the owner of what another one has
//	failed over  executions that were cut short, and ran again
//	unrecovered  executions that were cut short, and did not, although failover is on
//	twice        executions that were cut short, and ran again more than once
//	wrong tick   failovers by a Go instance that name another tick than that of what was cut short
//	left         nodes that say of an idle job that something of it still runs, waits or is assigned
//
// # What a seed fixes
//
// How long requests take, how far caches are behind, who has which address, and what the soak does when. It does not fix in
// which order goroutines run that are due at the same instant. So a seed that has shown something
// shows it again often, but not always.
package mixed
