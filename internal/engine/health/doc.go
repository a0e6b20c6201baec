// Package health has what a scheduler tells about itself: events for observers, log lines that do not flood the log, faults,
// and the status.
//
//	reporter.Follow(member)                     // what is different about this instance since the last pass
//	reporter.Skipped(world, item, skipped)      // what has happened to a tick
//	faults.Set(instance, jobtype.FaultStore, err)
//	live.Status()                               // from any goroutine
//
// Whatever the program has given for that, an observer or a log handler, may be slow and may panic: the scheduler goes on
// without it.
package health
