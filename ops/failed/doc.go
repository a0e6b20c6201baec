// Package failed says which executions of a span have failed and what of that has not succeeded since, and runs it again.
//
//	jobs, err := o.Jobs(ctx, ops.JobsQuery{})
//	q := failed.Query{From: midnight, History: reader, Jobs: jobs.Jobs}
//	report, err := failed.List(ctx, o, q)
//	result, err := failed.Retry(ctx, o, failed.Request{Query: q})
//
// What counts is an item at a tick, however often it has run for that: failovers and retries of it are the same failure.
//
//	FAILED      nothing has succeeded for the tick, and the item has not run for a later one
//	OLDER       nothing has succeeded for the tick, but the item has gone on to later ones
//	SUCCEEDED   a failover, a retry or a backfill has succeeded since
//
// The tree tells the last execution of each item, and so what is FAILED; the history tells the others. Without a history,
// or while that is away, only the first is known.
//
// A retry makes requests of package ops: [ops.Job.Retry] of what an item has failed with last, and [ops.Job.Backfill] of
// all other ticks. What has a reason to wait is left, and the answer says why: see [Why].
//
// # Not promised
//
//   - That failures of JVM members can be told apart: they record no tick. They are OLDER if the item has succeeded since.
//   - Which namespace a row of the history is of, if several have jobs of a name: a database knows jobs by their names only.
package failed
