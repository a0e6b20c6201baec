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
	"github.com/elasticjob-go/elasticjob/internal/rest"
)

// setUp decides which configuration is in force: the registry's, or the given one if the
// registry has none or the given one replaces it. A configuration that cannot be read may
// be replaced. (In elastic-job 2.1.5 and before, the start failed then.) One of the other
// kind, with a cron expression or without, may not.
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
		err := o.retry(ctx, c.Name, func() (err error) {
			s, err = setUpOnce(ctx, reg, given, o)
			return err
		})
		if !errors.Is(err, coord.ErrConflict) && !errors.Is(err, coord.ErrUnknownOutcome) {
			return s, err
		}
		// Another process sets the same job up at the same time, or the answer was lost. So
		// read again what is there.
		if pause = min(2*pause, lastPause); !rest.For(ctx, pause/2+rand.N(pause/2)) {
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
			return nil, fmt.Errorf("job %s: %w", job, ErrKindConflict) // running instances would refuse it
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
		say(func() {
			o.logger.Info("this program's configuration replaces the registry's", zap.String("job", given.Name), zap.Strings("fields", replaced))
		})
	}
	given.modified = revision
	return given, nil
}

// keep puts the registry's configuration in force. It refuses the configuration of another
// job, and with PrecedenceNone one that differs from the given one.
func keep(given *settings, found Config, modified int64, o *options) (*settings, error) {
	if found.Name != given.Name {
		fault := &FieldError{Field: keyName, Value: quote(found.Name), Err: fmt.Errorf("%s is allowed", quote(given.Name))}
		err := &ConfigError{Job: given.Name, Faults: []*FieldError{fault}}
		return nil, fmt.Errorf("configuration of job %s in the registry: %w", given.Name, err)
	}
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

// get reads a node. A node that is not there is the zero Node.
func get(ctx context.Context, reg coord.Registry, path string) (coord.Node, error) {
	n, err := reg.Get(ctx, path)
	if errors.Is(err, coord.ErrNoNode) {
		return coord.Node{}, nil
	}
	return n, err
}
