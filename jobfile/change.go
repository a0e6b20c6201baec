package jobfile

import (
	"context"
	"errors"
	"fmt"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// change puts the configuration of the files in force, in place of the registry's, if its
// revision is larger or it overwrites. It is one commit, which has the condition that nobody
// has changed the registry since.
func (k *keeper) change(ctx context.Context) (did, error) {
	k.scheduler.Declare(k.want.config)
	if k.refused = nil; k.inForce.is(k.want) {
		return nothing, nil
	}
	steer, want, at := k.app.ops.Job(k.name), k.want.config, k.want.source.at
	there, err := steer.Settings(ctx)
	isUnread := errors.Is(err, jobtype.ErrInvalidConfig)
	switch {
	case err != nil && !(isUnread && want.Overwrite):
		return nothing, k.wrong("is not changed", err)
	case there.Implementation != "" && there.Implementation != k.want.work.name(): // the runner may serve that
		k.refused = fmt.Errorf("%w: the registry has %s, this is %s", job.ErrImplementationConflict, brief.Quote(there.Implementation), brief.Quote(k.want.work.name()))
	case !isUnread && there.Config.Equal(want):
		k.inForce = k.want
		return nothing, nil
	case !isUnread && (there.Config.Cron == "") != (want.Cron == ""):
		k.refused = fmt.Errorf("%w: give the job another name, or remove it from the registry first", job.ErrKindConflict)
	case !want.Overwrite && want.Revision <= there.Config.Revision:
		k.refused = fmt.Errorf("%w, %d: raise revision above %d to put the change in force", ErrNotNewer, there.Config.Revision, there.Config.Revision)
	default:
		// It must not come into the registry, where all instances would refuse it.
		k.refused = k.check()
		at = k.want.placeOf(k.refused)
	}
	if k.refused != nil {
		return nothing, wrongAt(at, "the change is not in force", k.refused)
	}
	if err := steer.Update(ctx, ops.UpdateRequest{Config: want, Version: there.Version}); err != nil {
		return nothing, k.wrong("is not changed", err)
	}
	k.inForce = k.want
	return changed, nil
}

// check asks whether this process would take what the files have.
func (k *keeper) check() error {
	return k.app.node.Check(k.want.config, k.app.handler(k.want), k.want.options()...)
}
