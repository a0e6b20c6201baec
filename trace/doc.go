// Package trace tells what happened: an [Event] for every execution and every change of
// state of the jobs of a process, and the lines that handlers have written.
//
// A [Recorder] makes them of what jobs tell, by one option, and gives them to a [Sink]: a
// database (package sqltrace), a log ([Slog], [Zap]), or memory ([Newest]).
//
//	r, err := trace.New(trace.Slog(logger), trace.Options{Slog: logger})
//	…
//	s, err := job.Schedule(ctx, reg, settle, handler, r.Option())
//	…
//	err = errors.Join(s.Shutdown(drain), r.Close(drain))
//
// Several recorders are several options; each has a queue and a sink of its own. One that
// is for some jobs only has the option [Recorder.Only].
//
// # The way of an event
//
//	job ──► its queue for this observer ──► queue of the recorder ──► batch ──► sink
//	        10,000 events; more are         MaxEvents, MaxBytes;      IDs are
//	        missed                          the oldest are dropped    made
//
// On the path of an execution there is the first step only, and for a line the making of its
// text. No step waits for the next one.
//
// # A recorder
//
//	waits ──a batch is full, or an interval old──► writes ──► waits
//	                                                 │ ▲
//	              an error, a panic, or no answer in │ │ after a pause: 0.5 s, doubled with
//	              WriteTimeout; that is logged once  ▼ │ each failure up to 30 s, less up to half;
//	                                                fails  after no answer, half of the batch
//
//	Close: writes all that is left ──► ended
//	       its context ends ──► the rest is dropped, and said in its error ──► ended
//
// While the sink fails, the queue grows; what waits for long is packed, to about a
// twentieth. If it is full the oldest batches are dropped, but for the one that is being
// tried. That is logged when it begins and when it ends, counted in [Stats], and told in the
// stream: an event of jobtype.EventMissed comes where others are missing.
//
// A sink whose call does not return although its context has ended is waited for: nothing is
// written meanwhile, so that no two calls overlap. Stats say since when.
//
// # Not promised
//
//   - That everything is kept: what waits in memory is lost when the process dies, and queues
//     are bounded.
//   - That a sink is given something once. It may get a batch again that it has kept, after an
//     error or a time-out. IDs, and numbers of lines, are the same then.
//   - An order between events and lines: a line may come in an earlier batch than the start of
//     its execution. Each has its time.
//   - An order between executions, or jobs. IDs sort by the time of the event, as far as the
//     clock of the process goes forward.
//   - That a batch is given up that makes the sink panic each time. A sink drops what it can
//     never keep.
package trace
