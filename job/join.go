package job

import (
	"context"
	"fmt"

	"github.com/elasticjob-go/elasticjob/internal/engine"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// join starts a job of a node of NewNode by the configuration that the registry has. It writes none, and
// replaces none: Config.Overwrite and the precedence do not count. The job has a schedule, or
// runs when it is triggered, as the configuration says.
//
// Errors: ErrJobRemoved if the registry has no configuration of the job; those of Schedule.
func (n *Node) join(ctx context.Context, name string, h Handler, opts []Option) (*Scheduler, error) {
	if setup.IsNil(h) {
		return nil, fmt.Errorf("job %s: a handler is needed", short(name))
	}
	if !jobtree.IsName(name) {
		return nil, fmt.Errorf("job %s: no job can have this name", short(name))
	}
	return n.named(ctx, name, opts, func(ctx context.Context, p engine.Params) (*engine.Scheduler, error) {
		return engine.Join(ctx, p, name, h)
	})
}
