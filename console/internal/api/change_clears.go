package api

import (
	"context"

	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/ops"
)

// ClearFailoversBody says which items are not to be run again.
type ClearFailoversBody struct {
	Items []int `json:"items,omitempty" maxItems:"100000" nullable:"false" doc:"Default: all that wait to be run again."`
}

// ClearedItems is the answer to clear failovers.
type ClearedItems struct {
	Changed
	Items []int `json:"items" nullable:"false" doc:"Items that are not run again."`
}

// ClearServersBody says which dead servers go.
type ClearServersBody struct {
	Disabled bool `json:"disabled,omitempty" doc:"Also those that are disabled."`
}

// ClearedServers is the answer to clear servers.
type ClearedServers struct {
	Changed
	Servers []string `json:"servers" nullable:"false" doc:"Addresses of servers that have gone."`
}

// ClearedNodes is the answer to clear stale nodes.
type ClearedNodes struct {
	Changed
	Nodes []string `json:"nodes" nullable:"false" doc:"Paths of nodes that have gone."`
}

func (a *API) addClears() {
	steer(a, operator(route.Job), "clear-misfires", "/clear/misfires", "Forget ticks that were missed", "",
		func(ctx context.Context, j *ops.Job, _ *Nothing, _ *Changed) error { return j.ClearMisfires(ctx) })
	steer(a, operator(route.Job), "clear-failovers", "/clear/failovers", "Do not run executions again that were cut short", "",
		func(ctx context.Context, j *ops.Job, b *ClearFailoversBody, out *ClearedItems) error {
			items, err := j.ClearFailovers(ctx, b.Items...)
			out.Items = notNil(items)
			return err
		})
	steer(a, operator(route.Job), "clear-servers", "/clear/servers", "Forget servers without an instance", "",
		func(ctx context.Context, j *ops.Job, b *ClearServersBody, out *ClearedServers) error {
			servers, err := j.ClearServers(ctx, ops.ClearServersRequest{Disabled: b.Disabled})
			out.Servers = notNil(servers)
			return err
		})
	steer(a, operator(route.Job), "clear-stale", "/clear/stale", "Remove what dead JVM members leave for others to wait for", "",
		func(ctx context.Context, j *ops.Job, _ *Nothing, out *ClearedNodes) error {
			paths, err := j.ClearStale(ctx)
			out.Nodes = notNil(paths)
			return err
		})
}
