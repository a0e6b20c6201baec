// Package declare brings the jobs of a namespace to what files say, in the format of package
// jobfile, and writes such files of what there is. It runs no job.
//
//	files, err := jobfile.Declare(jobfile.Options{}, "jobs.yaml")
//	…
//	plan, err := declare.NewPlan(ctx, operations, declare.Request{Set: "billing", Files: files})
//	… // show it
//	results := plan.Apply(ctx, operations, nil)
//
// A plan changes nothing. It says of each job and calendar what is to be done:
//
//	the files have it                                 the files do not
//	────────────────────────────────────────────      ─────────────────────────────────────────────
//	not there ─────────────────────────► create       this set has applied it, and prune
//	other than the files say ──────────► update         is asked for ─────────────────────► prune
//	as they say, of this set ──────────► unchanged      is not ───────────────────────────► keep
//	as they say, to be adopted ────────► adopt        it is not there any more ───────────► forget
//	may not become so ─────────────────► refuse       anything else: it is nobody's business here
//
// What belongs to others is not taken by the way. A job of another set, or of none because a program or an operator
// has made it, is refused, and so is another implementation for a job that has live instances; the plan says who runs
// it. [Request.Adopt] takes it.
//
// What is applied goes on condition that the job is still as the plan has seen it; each job by
// itself, in one commit, which also has the entry of the audit. So who loses a race against another
// operator changes nothing, and is told (Result.Lost). To apply the same files again does what is
// left to do, and if nothing is, writes nothing.
//
// # Sets
//
// A set is a name for files that are applied together. In the commit that creates or changes a job,
// or adopts one that was there, the namespace notes to which set it belongs (~elasticjob/applied).
// Only what a set has applied is ever pruned by it, and only if the files have at least one job, and
// all else has succeeded. A job belongs to one set at most. One that somebody has removed and created again is of no set.
// Calendars belong to none, and are never pruned.
//
// # Revisions
//
// Programs put their configuration in force if their revision is larger than the registry's. So that none of them undoes what was applied:
//
//	revision in the file          what is written
//	none, or 0                    the registry's revision stays, so programs of up to that stay as they are
//	larger than the registry's    the file's
//	the same                      the same: an operator's change within a revision
//	smaller                       refused: a newer program has put its own in force. With overwrite: true
//	                              the file wins, and the registry's revision stays
//
// A program whose revision is larger still puts its own configuration in force when it starts; and one
// whose file or code has overwrite does, whatever is applied.
//
// # Not promised
//
// A plan is not one moment: each job is read by itself. Ticks that it shows are those of the time zone of
// this process, if the job has none. What apply puts in force every process has to know, such as the names
// of error handlers: the tree does not tell whether they do. Properties of types are not checked here: see
// [jobfile.Declarations.Check], which keeps secrets in clear text out of the store.
package declare
