// Package request writes requests for runs into the tree of a job, and waits until they have ended. A scheduler and the
// operations API make theirs by it, so that they meet the same rules: one key is one request, an answer that was lost is
// looked up, and a request that meets others is tried again.
//
//	r, err := request.Job{Name: "settle", Registry: reg, Read: read, Now: now}.Trigger(ctx, jobtype.TriggerRequest{Items: []int{0}})
//	results, err := r.Wait(ctx)
//
// It does not carry requests out: the instances of the job do.
package request
