// Package engine runs a job in one process: it is what stands behind the doors of package job.
//
//	s, err := engine.Start(ctx, engine.Params{Registry: reg, Pool: pool, Options: options}, config, handler)
//	…
//	err = s.Shutdown(drain)
//
// One goroutine, the controller's, owns the state. It is level-triggered: whatever wakes it (the
// view of the tree, a handler that has returned, a timer), it takes the newest snapshot and makes
// a pass over the steps of package decide ([decide.Steps]). A step says what to commit, and
// touches nothing; the controller commits it, and tries again later what has failed.
//
//	wake ──► look at the view ──► decide, commit, do what follows ──► begin handlers ──► wait
//	  ▲                                                                                   │
//	  └───────────────────────────────────────────────────────────────────────────────────┘
//
// A change of the configuration is taken in by look.go: it becomes the effective settings, or a
// fault. Executions that run keep the settings that they began with, but for their properties.
//
// From a tick to its handler: wait sleeps until the tick; reconcile makes a pass; its step fire (claim.go) asks
// World.Due and World.Fire, and commits the claims; afterCommit queues their runs; dispatch (execute.go)
// begins those for which a thread is free; execute calls exec.Execution.Start, which calls scopes, listeners and
// the handler. finish.go has the end of executions, lead.go the steps of a leader, registration.go and
// leave.go how this process joins and leaves; departure.go says how far it is.
//
// In the comments of state, such as viewState, the names after a colon are the functions that write the field.
// What owns its state is in packages of its own:
//
//	setup     what a configuration means in this process
//	schedule  calendars, and what a recorded schedule means
//	commit    sends changes, with back-offs; whether the view is behind
//	assign    asks the strategy
//	exec      calls a handler, listeners and error handlers
//	once      calls once-listeners
//	diagnose  finds out what keeps the job from running
//	jvm       what an instance does beside JVM members
//	pace      how fast runs end here and claims are answered, and how early items are claimed
//	health    status, faults, events, what the log has said
//	pool      what the jobs of a process share
//	runner    serves the jobs of a namespace
package engine
