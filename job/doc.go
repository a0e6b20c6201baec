// Package job runs cron jobs that are split into sharding items over any number of equal processes, with no central
// scheduler. The processes share a small tree of nodes in etcd or ZooKeeper (package coord). Each process decides from
// a snapshot of the tree what it may do next, and does it only if one conditional commit succeeds.
//
//	reg, err := etcd.Dial(ctx, etcd.Config{Endpoints: endpoints, Namespace: "billing"})
//	s, err := job.Schedule(ctx, reg, job.Config{
//		Name: "settle", Cron: "0/5 * * * * ?", ShardingTotalCount: 3,
//		ShardingItemParameters: "0=Beijing,1=Shanghai,2=Guangzhou", Failover: true,
//	}, job.HandlerFunc(settle))
//	…
//	err = s.Shutdown(drain) // a context of its own: until it ends, handlers may run on
//
// [Schedule] runs one job. A [Node] runs several, with threads that they share. A [Runner] serves whatever jobs
// of a namespace it has the work for. Package ops changes and steers jobs from anywhere; package jobtype has the types of
// configurations, events and results.
//
// # An item
//
//	          its tick is due, or a request
//	          has its turn; a thread is free        the handler has returned
//	 ┌──────► claim: running, fired ────────────────────┐
//	 │                │         ▲                       ▼
//	idle              │         └── misfire ─── a tick came meanwhile?
//	 ▲ ▲              │ the instance ends               │ no
//	 │ └──────────────┼─────────────────────────────────┘
//	 │                ▼
//	 │        waits for failover ──► claimed by another instance ──► …
//	 └──────── (failover off, or killed: nothing waits)
//
// A tick is a scheduled time. An instance is a process as a member of a job, under a new id in each session. A claim is one
// commit: its conditions are that the item is assigned to this instance, that it does not run, that its tick was not begun,
// and that the job is not paused. It moves the item's fired node on to the tick, so the tick starts at most once, whoever
// owns the item. The store-wide number of the commit is the fencing token of the execution: later claims of the item have
// larger ones.
//
// One instance, the leader, assigns the items by a strategy (package strategy), marks for failover what dead instances have
// left unfinished, and cleans up. Any instance can be the leader, and the next one need not know how far it came: each
// commit leaves the tree whole.
//
// # What is promised
//
//   - A tick of an item starts at most once. Only a failover may start it again, with a larger token, or an operator.
//   - An item has one owner at most, and its tokens grow. A handler's context ends before its item can start elsewhere.
//   - Every tick is run, made up for by one run after those that were missed (misfire), or skipped, and observers are told.
//   - With failover on, an item whose run was cut short by the end of its instance is run again, also if the next one ends.
//   - A graceful stop causes no second run of an item that had finished. Running work is not moved; idle work moves at once.
//   - A kill ends the run that it names and no other. No tick is claimed in a pause. What is disabled stays disabled.
//   - A request that the registry has is carried out, or its result says why not. One key is one request.
//   - A cursor is moved only by the execution that has the item, and every later execution goes on there.
//   - A once-listener is told of a tick at most once, unless an instance ends in the middle of a call.
//   - No tick begins after the end of a job. A job that was removed stays removed until somebody wants it back.
//   - If an item does not get a run that it should have had, a [Fault] says why.
//
// The page docs/understand/guarantees.md has all of them with their conditions, and integration/README.md says how each is attacked.
//
// # What is not promised
//
//   - The effects of a handler happen at least once: if an instance ends after a handler has returned and before the tree says
//     so, the item is run again. Handlers are idempotent, or pass ShardingContext.Token to what they write to.
//   - A handler that ignores its context may still be at work when its item starts elsewhere, or after a kill.
//   - With MonitorExecution off there are no claims, and nothing is promised about ticks while items move.
//   - The local wall clock decides when a tick is due. If clocks differ, the earliest one counts.
//   - JVM members (ElasticJob 3.0.x, on ZooKeeper) look before they write, without a condition: see docs/understand/mixed.md.
//   - Nothing holds across a store that was put back to an earlier state.
//
// # Work
//
// A [Handler] does the work of an item. A [Type] makes handlers by the properties of a configuration: packages dataflow, script
// and httpjob have some. A handler may ask its context: [Logger], [PropertiesNow], [StopAsked], [Cursor], [MoveCursor],
// [SetOutput], [Propagated]. One that works for long asks StopAsked between two pieces of work, because running work is not
// moved. Around it are listeners with names ([Listener], [OnceListener]), and functions that only look on ([Scope],
// [Observer]), which may panic and harm nothing.
//
// # Further
//
//	docs/understand/guarantees.md   all promises, their conditions, and what is not promised
//	docs/understand/time.md         zones, misfires, calendars, changes of the schedule, clocks
//	docs/understand/processes.md    instances, nodes, Runners, how they start and stop, and the end of a job
//	docs/reference/faults.md        the kinds of faults, and what to do
//	docs/understand/mixed.md        ElasticJob's JVM members in the same job
package job
