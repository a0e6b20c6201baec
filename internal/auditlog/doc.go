// Package auditlog keeps the audit of a namespace small: it removes the oldest entries, and gathers the changes of one action on
// many jobs in few entries.
//
// An entry is written by the commit that makes the change, also in a [Batch]: the commits of a batch come one after the other,
// and each writes the entry of those before anew, with its job added. So a job is in an entry if and only if it has changed,
// wherever the batch is cut short.
//
//	b.Begin(change) ──► the entry, with the job added ──► commit of the change and the entry
//	                                                        │ committed: the next change is added to it
//	                                                        │ refused: the job is taken out of it again
//	                                                        └ nobody knows: the next change begins another entry
package auditlog
