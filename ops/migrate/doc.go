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
// # One run at a time
//
// The node ~elasticjob/migration of each namespace is a lock that is never removed. A run takes it on both
// sides by writing it, and all its other commits have its version as a condition. So the run that began
// last has the lock; one that began before can commit nothing more, and ends with ErrTakenOver. No session
// holds the lock: a run that has died keeps nobody waiting.
//
// When the tree changes under a run, an answer is lost or a store is away for a short time, the run takes
// the lock again and goes over all jobs again. So what it had sent before has no effect later.
//
// # A job on its way
//
// A job is one that can run where its configuration is. Each arrow is one commit, unless it is said to be
// in parts. What is in brackets is the mark ~elasticjob/migration/{job}.
//
//	source                               target
//
//	a job                                –
//	  │                                    │ reserve: a note, so that nobody sets it up
//	  │                                    ▼
//	  │ take out: its configuration      [arriving]
//	  │ goes into the mark, a note         │
//	  ▼ says so                            │
//	[leaving] ─ ─ ─ ─ ─ read ─ ─ ─ ─ ─ ─ ► │ carry: wait for the instances of the source to end;
//	  │                                    │ write, in parts, and compare both sides;
//	  │                                    │ then its configuration comes, and the note goes
//	  │                                    ▼
//	  │ clear, in parts                  [arrived], a job
//	  ▼                                    │ forget
//	–                                      ▼ a job
//
// So a job can run on one side at most, at any moment, and its configuration is on one of the sides or in
// the mark of the source. What is next for a job follows from the two marks, which have the same id: called
// again, by any process, [Move.Run] goes on with what was interrupted. [Move.Abort] takes back what has not
// arrived, the source first:
//
//	[leaving] ── restore ──► a job       [arriving] ── release, in parts ──► a note
//
// The note is that of a removed job (~elasticjob/removed), with the highest revision there is. A Go
// program that starts the job on the wrong side, or too early, ends with jobtype.ErrJobRemoved, which
// says why. At the source the note stays.
//
// # Not promised
//
//   - JVM programs know no notes: one that starts at the source sets the job up again. Run says so
//     with ErrSetUpAgain, if it comes while the job is on its way. They do not note either which
//     tick they have begun last, so nothing that they have missed is made up at the target.
//   - Fencing tokens are numbers of the store, and those of the target may be smaller. Result has
//     both. Systems that refuse smaller ones have to be reset.
//   - With StopInstances, and for an instance that starts in the very moment in which its job is taken out,
//     a handler that does not watch its context, or whose process was stopped and goes on later, may be at
//     work when its item begins at the target, and a cursor that it moves then is lost. JVM instances are
//     not waited for.
//   - Nodes that mean nothing here do not go. Neither do rights, and what a trace database has.
//   - If the clocks of the stores differ, a tick may count as one that has not come, or was not
//     begun. Plan finds that, if both clocks are known.
//   - What somebody writes by hand into the tree of a job on its way is lost.
package migrate
