package job

import (
	"context"
	"errors"
	"fmt"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// setUp settles with the registry which configuration is in force: the one that is
// there, or, if there is none or the given one overwrites it, the given one. The
// registry's is not even parsed if it is overwritten, so one that cannot be read does
// no harm (B-30).
func setUp(ctx context.Context, reg coord.Registry, c Config, o *options) (*settings, error) {
	given, err := newSettings(c, o, 0)
	if err != nil {
		return nil, err
	}
	for {
		s, err := setUpOnce(ctx, reg, given, o)
		if !errors.Is(err, coord.ErrConflict) && !errors.Is(err, coord.ErrUnknownOutcome) {
			return s, err
		}
		// Somebody else sets the same job up; look again.
		if ctx.Err() != nil {
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
		return nil, fmt.Errorf("job %s: %w: the registry has %q, this is %q", job, ErrImplementationConflict, there, o.implementation)
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
		if (s.schedule == nil) != (given.schedule == nil) {
			return nil, fmt.Errorf("job %s: %w", job, ErrKindConflict)
		}
		return s, nil
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
