// Package engine runs a job in one process: it is what stands behind the doors of package job.
//
//	s, err := engine.Start(ctx, engine.Params{Registry: reg, Pool: pool, Options: options}, config, handler)
//	…
//	err = s.Shutdown(drain)
//
// One goroutine, the controller's, owns the state. It is level-triggered: whatever wakes it (the view of the tree, a handler
// that has returned, a timer), it takes the newest snapshot and makes a pass over the steps of package decide, in the order of
// the table in pass.go. A step says what to commit, and touches nothing; the controller commits it, and tries again later
// what has failed.
//
//	wake ──► look at the view ──► decide, commit, follow what happened ──► begin handlers ──► wait
//	  ▲                                                                                        │
//	  └────────────────────────────────────────────────────────────────────────────────────────┘
//
// What needs none of that state is in packages of its own: exec calls a handler, health tells observers and the log, pool has
// what the jobs of a process share, runner keeps a namespace served.
package engine
