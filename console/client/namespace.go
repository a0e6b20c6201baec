package client

import (
	"context"
	"fmt"
)

// Any is the ETag for who does not mind which version something has, as long as it is there.
const Any = "*"

// Namespace is a namespace by the name that the console has for it. It is a value that is never changed.
type Namespace struct {
	c     *Client
	name  string
	isDry bool
}

// Namespace returns a namespace. Nothing is asked for yet.
func (c *Client) Namespace(name string) *Namespace { return &Namespace{c: c, name: name} }

// DryRun returns the same namespace, whose changes are checked and answered, but not made.
func (n *Namespace) DryRun() *Namespace { return &Namespace{n.c, n.name, true} }

// Job is a job of a namespace.
type Job struct {
	n    *Namespace
	name string
}

// Job returns a job by its name. Nothing is asked for yet.
func (n *Namespace) Job(name string) *Job { return &Job{n, name} }

// longPoll is how long the console is asked to wait, in seconds.
const longPoll = 20

// Await returns a request when all of its items are through, however long that takes.
//
// Errors: jobtype.ErrNoRequest; the cause of ctx.
func (j *Job) Await(ctx context.Context, request string) (RequestDetail, error) {
	for {
		r, err := j.GetRequest(ctx, request, GetRequestParams{Wait: longPoll})
		if err != nil || len(r.Results) > 0 {
			return r, err
		}
		if ctx.Err() != nil {
			return r, fmt.Errorf("client: request %s: %w", request, context.Cause(ctx))
		}
	}
}

// Err returns why the job is not as it was to be, as an *Error; nil if it is.
func (r *JobResult) Err() error {
	if r.Error == (JobProblem{}) {
		return nil
	}
	return &Error{Request: "job " + r.Job, Status: r.Error.Status, Code: r.Error.Code, Detail: r.Error.Detail, Changes: r.Changes}
}
