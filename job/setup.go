package job

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// setUp settles with the registry which configuration is in force: the one that is
// there, or, if there is none or the given one overwrites it, the given one. One that
// cannot be read does no harm then (B-30), but one of the other kind is not overwritten.
func setUp(ctx context.Context, reg coord.Registry, c Config, o *options) (*settings, error) {
	given, err := newSettings(c, o, 0)
	if err != nil {
		return nil, err
	}
	for pause := firstPause / 2; ; {
		s, err := setUpOnce(ctx, reg, given, o)
		if !errors.Is(err, coord.ErrConflict) && !errors.Is(err, coord.ErrUnknownOutcome) {
			return s, err
		}
		// Somebody else sets the same job up; look again.
		if pause = min(2*pause, lastPause); !sleep(ctx, pause/2+rand.N(pause/2)) {
			return nil, errors.Join(err, context.Cause(ctx))
		}
	}
}

func setUpOnce(ctx context.Context, reg coord.Registry, given *settings, o *options) (*settings, error) {
	job := jobtree.Job(given.Name)
	root, err := get(ctx, reg, job.Root())
	if err != nil {
		return nil, err
	}
	if there := string(root.Value); there != "" && there != o.implementation {
		return nil, fmt.Errorf("job %s: %w: the registry has %s, this is %s", job, ErrImplementationConflict, quote(there), quote(o.implementation))
	}
	there, err := get(ctx, reg, job.Config())
	if err != nil {
		return nil, err
	}
	if there.Created != 0 && !given.Overwrite {
		c, err := DecodeConfig(there.Value)
		if err != nil {
			return nil, fmt.Errorf("configuration of job %s in the registry: %w", job, err)
		}
		s, err := newSettings(c, o, there.Modified)
		if err != nil {
			return nil, fmt.Errorf("configuration of job %s in the registry: %w", job, err)
		}
		if s.rules.IsOneOff() != given.rules.IsOneOff() {
			return nil, fmt.Errorf("job %s: %w", job, ErrKindConflict)
		}
		return s, nil
	}
	if c, err := DecodeConfig(there.Value); there.Created != 0 && err == nil && (c.Cron == "") != (given.Cron == "") {
		return nil, fmt.Errorf("job %s: %w", job, ErrKindConflict) // instances that run would not follow
	}
	document, err := given.Encode(nil)
	if err != nil {
		return nil, err
	}
	write := coord.Create(job.Config(), document)
	if there.Created != 0 {
		write = coord.SetAt(job.Config(), document, there.Version)
	}
	revision, err := reg.Commit(ctx, coord.Put(job.Root(), []byte(o.implementation)), write)
	if err != nil {
		return nil, fmt.Errorf("set up job %s: %w", job, err)
	}
	given.modified = revision
	return given, nil
}

// get reads a node; one that is not there is the zero Node.
func get(ctx context.Context, reg coord.Registry, path string) (coord.Node, error) {
	n, err := reg.Get(ctx, path)
	if errors.Is(err, coord.ErrNoNode) {
		return coord.Node{}, nil
	}
	return n, err
}
