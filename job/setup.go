package job

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// setUp settles with the registry which configuration is in force: the one that is
// there, or, if there is none or the given one replaces it, the given one. One that cannot
// be read may be overwritten (ElasticJob up to 2.1.5 failed at it), but one of the other
// kind may not.
func setUp(ctx context.Context, reg coord.Registry, c Config, o *options) (*settings, error) {
	given, err := newSettings(c, o, 0)
	if err != nil {
		return nil, err
	}
	if err := o.precedence.check(given.Config); err != nil {
		return nil, err
	}
	for pause := firstPause / 2; ; {
		var s *settings
		err := o.insist(ctx, c.Name, func() (err error) {
			s, err = setUpOnce(ctx, reg, given, o)
			return err
		})
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
	var replaced []string
	if there.Created != 0 {
		found, err := DecodeConfig(there.Value)
		switch {
		case err == nil && (found.Cron == "") != (given.Cron == ""):
			return nil, fmt.Errorf("job %s: %w", job, ErrKindConflict) // instances that run would not follow
		case o.precedence.replaces(given.Config, there.Value):
			replaced = found.differences(given.Config)
		case err != nil:
			return nil, fmt.Errorf("configuration of job %s in the registry: %w", job, err)
		default:
			return keep(given, found, there.Modified, o)
		}
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
	if len(replaced) > 0 {
		tell(func() {
			o.logger.Info("this program's configuration replaces the registry's", zap.String("job", given.Name), zap.Strings("fields", replaced))
		})
	}
	given.modified = revision
	return given, nil
}

// keep puts the registry's configuration in force, unless it has to be the given one.
func keep(given *settings, found Config, modified int64, o *options) (*settings, error) {
	differ := given.departures(found)
	if len(differ) > 0 && o.precedence == PrecedenceNone {
		return nil, fmt.Errorf("job %s: %w: %s", given.Name, ErrConfigDiffers, strings.Join(differ, "; "))
	}
	s, err := newSettings(found, o, modified)
	if err != nil {
		return nil, fmt.Errorf("configuration of job %s in the registry: %w", given.Name, err)
	}
	o.precedence.warn(o.logger, given.Config, found, differ)
	return s, nil
}

// tell logs something about the start, which goes on even if the logger panics.
func tell(log func()) {
	defer func() { _ = recover() }() // which cannot be logged
	log()
}

// get reads a node; one that is not there is the zero Node.
func get(ctx context.Context, reg coord.Registry, path string) (coord.Node, error) {
	n, err := reg.Get(ctx, path)
	if errors.Is(err, coord.ErrNoNode) {
		return coord.Node{}, nil
	}
	return n, err
}
