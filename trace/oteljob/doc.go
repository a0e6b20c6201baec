// Package oteljob makes OpenTelemetry spans and metrics of what jobs do. The folder is
// trace/oteljob; the package is called oteljob, so that it can stand beside OpenTelemetry's own
// package otel.
//
//	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithIDGenerator(oteljob.IDs{}))
//	tracer, err := oteljob.New(oteljob.Options{
//		TracerProvider: provider, Propagator: propagation.TraceContext{}, Namespace: "billing",
//	})
//	…
//	node, err := job.NewNode(reg, job.NodeConfig{Options: []job.Option{tracer.Option()}})
//	…
//	err = node.Shutdown(drain)
//	err = provider.Shutdown(drain) // after the node: its last spans have ended by then
//
// # Traces
//
// A tick has one trace, whichever processes run its items: the id of the trace follows from the
// namespace, the job and the tick ([TraceOfTick]). In the trace there is one span for each process
// that runs items of the tick, and below it one for each execution:
//
//	process A   tick settle ─┬─ run settle (item 0) ── spans of the handler
//	                         └─ run settle (item 2)
//	process B   tick settle ─── run settle (item 1) ── spans of a server that its request has called
//
// The span of a tick begins with its first execution in the process, and ends with the last one:
// when none has begun for a second. It is a root, so a trace may have several. OpenTelemetry
// leaves it to each process to make the ids of its spans; a tick's one span for all processes
// would need somebody who lives until all of them have ended.
//
// What makes up for the tick, or runs again for it after a failover, stands in the same trace,
// as does what an operator runs for it later; then the span of the process is called retry or
// backfill. A trigger is for no tick: it has a trace of its own, with spans called trigger.
//
//	waiting ──► begun ──┬─► (retry, …) ─► ended: OK, failed, panicked, timed out, killed, cut short
//	            span    └ events          the span ends when the handler has returned for the last time
//
// The span of an execution is around all of its attempts, the pauses between them, its
// listeners and its error handlers. It always ends, also if the handler panics, is killed, or
// ignores that its context has ended; not before it has returned, though.
//
// # Sampling
//
// The sampler of the TracerProvider is asked for each span of a tick, as for any root; it sees the
// name, elasticjob.job.name and faas.trigger. A sampler that goes by the id of the trace, such as
// TraceIDRatioBased, decides alike in all processes: the trace of a tick is there as a whole, or
// not at all. If the span of a tick is not recorded, its executions have none. Their contexts say
// that they are not sampled, so others below them do not record either.
//
// # Links
//
// An execution after a failover, and a retry that an operator has asked for, link to the execution
// that they repeat: the first one ([job.Execution].OriginalTaskID). That needs [IDs] in all
// processes, because its span is one of another process. An execution that makes up for ticks links
// to the execution of the item that was under way when the last of them came, if it ran here.
//
//	elasticjob.link: repeats                  after a failover, or in a retry
//	elasticjob.link: ran when the tick came   of what makes up for ticks
//
// # Attributes
//
// Where the semantic conventions of OpenTelemetry (1.43) have a name, that is used. They have
// none for jobs; those for functions that a timer starts come closest. Times are in seconds. The
// job, the item and the source of a run are there from its begin, the others from its end.
//
//	attribute                     of                  meaning
//	elasticjob.job.name           tick, run, metrics  the job
//	elasticjob.namespace          tick                Options.Namespace
//	elasticjob.instance.id        tick, run           this process as an instance of the job
//	elasticjob.tick               tick, run           the scheduled time, in UTC (RFC 3339)
//	elasticjob.request.id         tick, run           of a trigger, a retry or a backfill
//	elasticjob.executions         tick                how many executions of the tick there were here
//	elasticjob.executions.failed  tick                how many of them have failed
//	faas.trigger                  tick, run           timer, if the schedule is the reason, or else other
//	elasticjob.item               run                 the sharding item
//	elasticjob.source             run, metrics        why it runs: the text of job.Source
//	elasticjob.task.id            run, link           of the execution
//	elasticjob.original_task.id   run                 of the execution that this one repeats
//	elasticjob.token              run                 the fencing token
//	elasticjob.waited             run                 how long it has waited for a thread
//	elasticjob.outcome            run, metrics        how it has ended: the text of job.Outcome
//	elasticjob.attempts           run                 how many attempts there were
//	error.type                    run                 panic, timeout, or the type of the error
//	elasticjob.attempt            event retry         which attempt has failed
//	elasticjob.backoff            event retry         how long after it the next one comes
//	exception.type                events              the type of the error
//	exception.message             events              its text, 4,000 bytes at most
//	exception.stacktrace          events              of a panic
//	elasticjob.link               link                what the link means
//	elasticjob.reason             metrics             why nobody runs a tick: the text of jobtype.SkipReason
//
// The status of a span is an error if the outcome is FAILED, PANIC or TIMEOUT; then it has an
// event exception. If the execution was cut short or killed, it has an event of the name "cut
// short" and no status: it has not failed. The status of a tick's span is an error if an execution
// below it has failed. What the handler has not returned, only logged, is no error.
//
// # Metrics
//
//	name                           unit         kind       what
//	elasticjob.execution.duration  s            histogram  how long executions took, with all attempts
//	elasticjob.execution.lateness  s            histogram  from a tick to the begin of an execution: jobtype.Event.Late
//	elasticjob.execution.retries   {attempt}    counter    attempts that have failed, after which another one came
//	elasticjob.tick.due            {tick}       counter    ticks that have come; each instance counts them
//	elasticjob.tick.made_up        {tick}       counter    ticks that were missed, and made up for
//	elasticjob.tick.skipped        {tick}       counter    ticks of an item that nobody runs
//
// They are for programs that have a MeterProvider anyway. Package trace/prom knows more, and has
// rules for alerts. If there are more jobs than the SDK takes attributes (2,000 by default), it
// counts the others together; Tracer.Only chooses.
//
// # Lines of the log
//
// Options.Log gets the lines that handlers write with job.Logger and what scripts print, each with a
// context that has the span. A bridge such as go.opentelemetry.io/contrib/bridges/otelslog takes
// the ids of trace and span from it. The scheduler's own log ([job.WithSlog]) gets the context of
// each line, too, but only if it was written with one: job.Logger(ctx).InfoContext(ctx, …).
//
// # What is not promised
//
// A process that ends without a shutdown takes the spans along that have not ended, and those
// that were not exported. A failover then links to a span that nobody has.
//
// A retry of what was triggered has no link, because it does not know the trigger. Its attribute
// elasticjob.original_task.id says which execution it repeats. A trigger whose items were claimed at
// a whole second is taken for a tick after a failover: then it is in another trace.
//
// A retry or a backfill may come days after its tick. Its spans are in the trace of the tick all
// the same; a backend that closes traces early may show them apart.
package oteljob
