// Package why says why a job, or an item of it, did not run at a moment: who had paused it, which calendar has left the
// tick out, which run was still going on. It changes nothing.
//
//	answer, err := why.Explain(ctx, o, why.Query{Job: "settle", At: noon, History: reader})
//	for _, cause := range answer.Causes {
//		fmt.Println(cause.Kind, cause.Text)
//	}
//
// The answer is about one tick: the last one up to the moment. [Explain] gathers facts, and a table turns them into a
// verdict and causes:
//
//	the job now          its configuration, pause, items, instances and faults
//	the audit            who has paused, disabled, killed or configured what: the newest 1,000 changes of the namespace
//	calendars            what they leave out, and what they left out then if the audit has their changes
//	the history          executions, ticks that were skipped, instances, faults and changes; without one, only the last
//	                     end of each item is known
//
// [Causes] are those of a longer time, from one moment to another: what a timeline shows.
//
// # Which schedule
//
// The one that was in force at the moment, as far as the audit and the history have the configurations before each
// change. If that is not known it is today's, and [Answer.Unseen] says so.
//
// # Not promised
//
//   - A cause that nobody has recorded. Then the verdict is [Unknown].
//   - That a circumstance (a fault, other instances, another configuration) is what has kept an item from running: it was so
//     at that time.
//   - Anything about JVM members' pauses and skipped ticks: they record none.
package why
