// Package health has what a scheduler tells about itself: events for observers, and log lines that do not flood the log.
//
//	observers := health.NewObservers(list, health.NewGuard(log), log)
//	observers.Tell(jobtype.Event{Kind: jobtype.EventJoined, …})
//	…
//	observers.Close() // when nothing happens any more
//
// Whatever the program has given for that, an observer or a log handler, may be slow and may panic: the scheduler goes on
// without it.
package health
