package api

import (
	"context"
	"errors"
	"fmt"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// ops returns the operations on the namespace of a request, in the name of who sends it.
// Lists have only jobs that he may see.
func (a *API) ops(ctx context.Context) (*ops.Ops, error) {
	o, err := a.Connections.Ops(ctx, route.At(ctx).Namespace)
	if errors.Is(err, connection.ErrNoNamespace) {
		return nil, fmt.Errorf("%w; %s", err, a.knownTo(ctx))
	}
	if err != nil {
		return nil, err
	}
	p := access.From(ctx)
	o = o.By(p.Name).From(p.Address)
	if !seesAll(ctx) {
		o = o.Only(func(job string) bool { return sees(ctx, job) })
	}
	return o, nil
}

// job returns the operations on the job of a request, in the name of who sends it.
func (a *API) job(ctx context.Context) (*ops.Job, error) {
	o, err := a.ops(ctx)
	if err != nil {
		return nil, err
	}
	return o.Job(route.At(ctx).Job), nil
}

// history returns what answers questions about the past of the namespace of a request. It does not need the
// store: when that is away, people ask about the past.
func (a *API) history(ctx context.Context) (history.Reader, error) {
	here := route.At(ctx).Namespace
	for _, n := range a.Connections.Namespaces() {
		if n.Name == here && n.Database != "" {
			return a.Connections.History(n.Database)
		}
	}
	o, err := a.ops(ctx) // of a program that has given it, or to say that there is none
	if err != nil {
		return nil, err
	}
	return o.History()
}

// sees reports whether who sends a request may see a job of its namespace.
func sees(ctx context.Context, job string) bool {
	return access.From(ctx).May(access.Viewer, route.At(ctx).Namespace, job)
}

// seesAll reports whether he may see all jobs of its namespace.
func seesAll(ctx context.Context) bool {
	return access.From(ctx).MayAll(access.Viewer, route.At(ctx).Namespace)
}
