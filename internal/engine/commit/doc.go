// Package commit sends the changes that the steps of a job decide on, and says when a step
// that has failed may try again.
//
//	if commits.All(w.Skip(work)) { … }
//
// A change is one conditional commit. If a part of it conflicts, the rest is sent again at once without that part.
// Each step has a back-off of its own, and so has each part of a change, so one that fails does not delay another.
//
// A [Committer] also knows whether the view of the job has to catch up with the store before
// the next pass: after a conflict, after a lost answer, and whenever a step asks for it.
//
// It is not promised that a change whose answer was lost has not happened: the next snapshot shows whether it has.
package commit
