// Package history has the questions that operators ask of the history of jobs, and the answers, as
// types: [Reader] is who answers them. Package sqltrace does, from a database. A program that shows the
// history needs only this package, and no driver of a database.
//
//	page, err := reader.Executions(ctx, history.ExecutionFilter{Job: "settle", Outcomes: history.Failures(), Limit: 20})
//	for _, x := range page.Rows { … }
//	next, err := reader.Executions(ctx, history.ExecutionFilter{…, After: page.Next})
//
// All answers are bounded, to [MaxLimit] rows at most (Outlines: [MostOutlines]), and in UTC. Those with a [Cursor] are pages, from
// the newest row to the oldest.
//
//	Executions        of a job, items, an instance, an address, a source, outcomes, a request, a
//	                  time; by key
//	Execution, Chain  one with its output, and the others for its tick: failovers, retries
//	Lines             what it has logged since a line, also while it runs
//	Statuses, Events  its changes of state; what else has happened, also what operators have changed;
//	                  by key
//	Latest            the newest execution of each item of a job
//	Outlines          what a timeline shows of a job: many executions, with few columns
//	Counts            how many have ended in each hour or on each day, by the clocks of a zone
//	Missed            how many ticks were missed, in the same way
//	Lanes             both of all jobs, in shorter times
//	Durations         percentiles, over the newest [MostDurations]
//	JobNames, StatusJobNames, Addresses   with a prefix
//	SearchExecutions, SearchStatuses      what ElasticJob's console asks: by number of page, sorted
//	                  by a column, with the total
//
// # How an execution ends
//
//	             ┌──► OK
//	RUNNING ─────┼──► FAILED, PANIC, TIMEOUT   by itself, without success: see Failures
//	             └──► CUT, KILLED, LOST        ended from outside: see Interrupted
//
// # Not promised
//
//   - That everything is there: what writes the history is bounded, and may lose something.
//   - That a row has all of its fields. Those of JVMs have only what ElasticJob knows.
//   - An order of rows in the same microsecond.
package history
