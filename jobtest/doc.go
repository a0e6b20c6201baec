// Package jobtest is for tests of one's own jobs, without a store and without waiting.
//
// # One item
//
// [Run] runs a handler for one item, and returns how that has ended:
//
//	res := jobtest.Run(t, handler, jobtest.Case{Config: settle, Item: 1, KillAfter: time.Minute})
//	if res.Outcome != job.OutcomeKilled {
//		t.Error(res)
//	}
//
// It is the scheduler that runs it, on a simulated store: with the context, the token, the
// retries, the time-out, the listeners and the cursor of every execution. Job types work, too.
//
// # Several processes
//
// A [Cluster] has a simulated store and the processes that a test starts on it. It lives in a
// bubble of testing/synctest, where time goes on only when all that runs waits for it. So the test
// decides when which time it is, and a virtual hour takes some milliseconds.
//
//	synctest.Test(t, func(t *testing.T) {
//		c := jobtest.NewCluster(t)
//		a, b := c.Process("10.0.0.1"), c.Process("10.0.0.2")
//		a.Schedule(settle, handler)
//		b.Schedule(settle, handler)
//		c.Until(time.Hour, func() bool { return c.Executions().On("10.0.0.1").Running().Len() > 0 })
//		a.Die()
//		c.Advance(time.Hour)
//		c.Executions().Source(job.SourceFailover).Outcome(job.OutcomeOK).Require(t, 1)
//	})
//
// A process goes through these states; each arrow is a method of [Process] or Cluster:
//
//	                       ┌──────────── time ────────────┐
//	                       ▼                              │
//	Cluster.Process ──► lives ── CutOff, LoseAnswers, ─► troubled
//	                       │      LoseSession, StoreAway  │
//	                       ├──────────────────────────────┤
//	                    Shutdown                         Die
//	                       ▼                              ▼
//	                     left: its session is closed     dead: its session expires, 10 s later
//
// [Cluster.Runner] starts a process that serves the jobs which somebody creates, by Cluster.Ops or
// with another instance. [Process.ClockOff] sets a wrong clock. [Cluster.Store] and [Process.Link] have all other
// faults of package memory, and [Cluster.Ops] what an operator can do.
//
// # What has happened
//
// A [Recorder] keeps executions and faults. A Cluster has one, and [Recorder.Observer] makes one
// of any scheduler. Filters choose some of them, and Require checks their number. A failure shows
// all that has happened, one line each, with a mark at what was found:
//
//	jobtest: 1 instead of 2 executions: job settle, item 0
//	history:
//	  2000-01-01 00:00:00.000  10.0.0.1   settle joined
//	> 2000-01-01 00:00:10.000  10.0.0.1   settle item 0, tick 2000-01-01 00:00:10 UTC, NORMAL_TRIGGER, token 17: OK after 3s
//
// A line "OK, after its context had ended" shows a handler that returned nil when it was stopped: its item is not run again.
//
// [EachTickOnce], [NoTickTwice], [NoOverlap] and [TokensGrow] check in one line what package job
// promises. [Ticks] returns the ticks of a configuration.
//
// # To copy
//
// The file copy_test.go has tests to copy: a handler that is tried again
// (TestTheBankIsAskedAgain), a kill (TestItStopsWhenItIsKilled), a process that dies
// (TestEveryTickIsPaidAlthoughAProcessDies), a write with an old token (TestAnOldWriteIsRefused)
// and a store that is away (TestAnOutageIsMadeUpFor). With a database there are
// jobtest_test.go in examples/orders, jobs_test.go in examples/service, and, for PostgreSQL in real
// time, settle_test.go in examples/postgres.
//
// # In a bubble
//
// A bubble begins at midnight UTC of 2000-01-01 ([Cluster.AdvanceTo] goes elsewhere), in the time
// zone of the machine. What happens at the same instant has no fixed order, so let a test look
// a moment before or after it. All goroutines have to end by the end of the test: those of this
// package do, and handlers have an hour for it, also if they do not watch their contexts.
//
// Time stands still while a goroutine of the bubble waits for anything but another one: the
// network, a process, a lock of something outside of it, and any [sync.Mutex], also one of the bubble.
// So a connection that is open, if only kept alive, stops it for ever, and so does a handler that
// sleeps with a mutex for which another one waits: the test hangs until go test -timeout. A handler
// that has a connection is tested in real time, as the next section says, or is given something that
// takes the place of the other end. Databases without a connection (SQLite) work; open them in the
// bubble, before the cluster, with [database/sql.DB.SetMaxOpenConns] of 1, because the wait for a
// lock of SQLite is no virtual time, and close them in a Cleanup.
//
// There is no seed that would repeat a failure. The history shows it; -count=100 looks for it again.
//
// With -race the runtime of Go crashes (SIGSEGV in maybeRunChan, seen with 1.26.8) now and then, if
// several goroutines of a bubble wait on timers of no time at once. Where a handler waits for
// no time, let it have no timer.
//
// # In real time
//
// [RealTime] makes a Cluster outside of a bubble, for handlers with open connections, to PostgreSQL for
// example. Processes, faults and checks are the same. Sessions are 1 s long, so what a dead process
// has left is run again after a second. [Run] works outside of a bubble, too.
//
//   - Ask for executions instead of waiting for ticks: pause the job, so that no tick comes in the
//     middle of the test, and trigger or backfill it with [Cluster.Ops]. A backfill runs ticks
//     of the past, as many as are asked for, and a process that dies is failed over as on a tick.
//   - Wait with [Cluster.Until]. It returns as soon as ok is true, so a limit of a minute, for
//     slow machines, costs nothing. [Cluster.Advance] is for what must not happen.
//   - Hold a handler up by what the test controls, a channel or a lock in the database, and not by
//     a time.
//
// The context of a handler that has lost its session ends 0.2 s before another process may run the
// item. A machine that stands still for longer runs both, as in production. So check what the
// handlers have written, and not [NoOverlap]. The end of the test does not wait for handlers that go
// on for more than 1 s after the end of their contexts.
//
// # What is not promised
//
// The simulated store has no delays of its own, and says nothing of how long an etcd or ZooKeeper
// takes. Where they differ it is like ZooKeeper: see package memory.
//
// All instances are in one process, and share its variables. Those that die cannot be stopped
// like a process, so their handlers' contexts end: see [Process.Die].
//
// An execution has the times of its begin and end as the observer was told them. Outside of a
// bubble two of different instances may be told in another order than they happened, and one whose
// end was not told yet when its process died counts as cut.
package jobtest
