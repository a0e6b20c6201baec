package jobfile

import (
	"context"
	"fmt"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job"
)

// change puts the configuration of the files in force, in place of the registry's, if its
// revision is larger or it overwrites. It is one commit, which has the condition that nobody
// has changed the registry since.
func (k *keeper) change(ctx context.Context) (did, error) {
	if k.refused = nil; k.inForce.is(k.want) {
		return nothing, nil
	}
	path := k.name + "/config"
	there, err := k.app.reg.Get(ctx, path)
	if err != nil {
		return nothing, k.wrong("is not changed", err)
	}
	found, err := job.DecodeConfig(there.Value)
	switch want := k.want.config; {
	case err != nil && !want.Overwrite:
		return nothing, k.wrong("the registry's configuration cannot be read", err)
	case err == nil && found.Equal(want):
		k.inForce = k.want
		return nothing, nil
	case err == nil && (found.Cron == "") != (want.Cron == ""):
		k.refused = job.ErrKindConflict
	case !want.Overwrite && want.Revision <= found.Revision:
		k.refused = fmt.Errorf("%w, %d: raise revision above %d to put the change in force", ErrNotNewer, found.Revision, found.Revision)
	}
	if k.refused == nil {
		k.refused = k.app.accepts(k.want)
	}
	if k.refused != nil {
		return nothing, k.wrong("the change is not in force", k.refused)
	}
	document, err := k.want.config.Encode(there.Value)
	if err != nil {
		return nothing, k.wrong("is not changed", err)
	}
	if _, err := k.app.reg.Commit(ctx, coord.SetAt(path, document, there.Version)); err != nil {
		return nothing, k.wrong("is not changed", err)
	}
	k.inForce = k.want
	return changed, nil
}

// wrong says where the job stands in the files.
func (k *keeper) wrong(what string, err error) error {
	return fmt.Errorf("%s: %s: %w", k.want.source.at, what, err)
}
