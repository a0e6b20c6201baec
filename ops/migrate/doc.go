// Package migrate moves the jobs of a namespace to another one: from ZooKeeper to etcd, back, or
// between two of the same kind. The jobs may be ElasticJob's, also of elastic-job 2.1, whose
// configurations become those of 3.x.
//
//	m := migrate.Move{
//		From: migrate.Store{Registry: old, Name: "zookeeper://zk1,zk2/billing", ZooKeeper: true},
//		To:   migrate.Store{Registry: next, Name: "etcd://etcd1/billing"},
//		By:   "anna",
//	}
//	plan, err := m.Plan(ctx) // writes nothing, and says what would be
//	…
//	result, err := m.Run(ctx)
//
// The programs of the jobs are stopped first. They are started on the target when its jobs are there.
//
// # What goes
//
//	configurations, implementations     unknown keys stay; JSON of 2.1 becomes YAML of 3.x
//	what operators want                 servers and items that are disabled, pauses with their texts, pins,
//	                                    sets of files that the jobs stand in
//	what the promises about ticks       since when the schedule is in force; the last tick of each item, what
//	rest on                             it has missed, and what waits to be run again; ticks that
//	                                    once-listeners are being told of; requests that have not ended
//	what handlers have kept             cursors
//	for people                          how each item's last run has ended; the audit
//	of the namespace                    calendars, notes of removed jobs
//
// What instances write anew does not go: sessions, leaders, owners of items, faults. A run that was
// cut short is settled before, as the next leader at the source would: with failover the item waits to be
// run again at the target. Triggers of ElasticJob's kind name instances, and do not go.
//
// So the target's first instance finds what it would find at the source: no tick is started
// twice, and what was missed meanwhile is made up once.
//
// # A job on its way
//
// All there is to know stands in the two trees: ~elasticjob/migration/{id} is the mark of a
// migration, and {id}/{job} below it has what is in brackets here. Each arrow is one commit, except
// those that are named parts.
//
//	source                                        target
//
//	a job                                         nothing
//	  │                                             │ reserve: a note, so nobody sets it up
//	  │                                             ▼
//	  │ take out: its configuration goes          [arriving]
//	  │ into the mark, a note says so               │
//	  ▼                                             │
//	[leaving] ─ ─ ─ ─ ─ read ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ►  │ write, in parts, and compare both sides
//	  │                                             │ admit: its configuration comes, the note goes
//	  │                                             ▼
//	  │                                           [arrived], a job
//	  │ clear, in parts; not with KeepSource
//	  ▼
//	[left]
//
// A job is one that can run where its configuration is. So it can run on one side at most, at any
// moment, and who ends in the middle leaves nothing that cannot be found: its configuration is on one
// of the sides, or in the mark of the source. Calling [Move.Run] again goes on with it, from any
// process. [Move.Abort] is the way back for all jobs that have not arrived.
//
// The mark of the target is put up first and goes last. Each commit has the version of a mark as a
// condition, and who goes on with a migration rewrites the marks. So of two that run at the same
// time one ends with ErrTakenOver, and a commit whose answer was lost has no effect later.
//
// The note is that of a removed job (~elasticjob/removed), with the highest revision there is. A Go
// program that starts the job on the wrong side, or too early, ends with jobtype.ErrJobRemoved, which
// says why. At the source the note stays.
//
// # Not promised
//
//   - JVM programs know no notes: one that starts at the source sets the job up again. Run says so
//     with ErrSetUpAgain, if it comes while the migration is under way. They do not note either which
//     tick they have begun last, so nothing that they have missed is made up at the target.
//   - Fencing tokens are numbers of the store, and those of the target may be smaller. Result has
//     both. Systems that refuse smaller ones have to be reset.
//   - With StopInstances, and for an instance that starts in the very moment in which its job is taken out,
//     a handler that does not watch its context may be at work when its item begins at the target, and a
//     cursor that it moves then is lost.
//   - Nodes that mean nothing here do not go. Neither do rights, and what a trace database has.
//   - If the clocks of the stores differ, a tick may count as one that has not come, or was not
//     begun. Plan finds that, if both clocks are known.
//   - What somebody writes by hand into the tree of a job on its way is lost.
package migrate
