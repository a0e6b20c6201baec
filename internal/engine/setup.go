package engine

import (
	"context"
	"errors"
	"fmt"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/engine/commit"
	"github.com/elasticjob-go/elasticjob/internal/engine/jvm"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/removal"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/internal/urgency"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// setUp decides which configuration is effective: the registry's, or the given one if the registry has
// none or the given one replaces it. A configuration that cannot be read may be replaced. (In elastic-job
// 2.1.5 and before, the start failed then.) One of the other kind, with a cron expression or without, may
// not. A job that was removed is not set up again: see readmit. The view has just been opened.
func (c *controller) setUp(ctx context.Context) error {
	fromStore := func(ctx context.Context, path string) (coord.Node, error) { return get(ctx, c.reg, path) }
	read := func(_ context.Context, path string) (coord.Node, error) {
		n, _ := c.view.Snapshot().Get(path)
		return n, nil
	}
	if c.view.Fault() != nil {
		read = fromStore // the view may leave nodes out
	}
	for backoff := (sleep.Backoff{Min: commit.MinPause, Max: commit.MaxPause}); ; {
		err := c.options.Retry(ctx, string(c.job), func() error { return c.setUpOnce(ctx, read) })
		if !errors.Is(err, coord.ErrConflict) && !errors.Is(err, coord.ErrUnknownOutcome) {
			return err
		}
		// Another process sets the same job up at the same time, or the answer was lost. So
		// read from the store what is there.
		read = fromStore
		if !backoff.Wait(ctx) {
			return errors.Join(err, context.Cause(ctx))
		}
	}
}

func (c *controller) setUpOnce(ctx context.Context, read func(context.Context, string) (coord.Node, error)) error {
	given, job := c.settings, c.job
	root, err := read(ctx, job.Root())
	if err != nil {
		return err
	}
	there, err := read(ctx, job.Config())
	if err != nil {
		return err
	}
	if there.Created == 0 && c.options.JoinOnly {
		return fmt.Errorf("job %s: %w: it has no configuration", job, jobtype.ErrJobRemoved)
	}
	if err := c.options.CheckImplementation(string(root.Value), there.Value); err != nil {
		return fmt.Errorf("job %s: %w", job, err)
	}
	var replaced []string
	if there.Created != 0 {
		found, err := jobtype.DecodeConfig(there.Value)
		switch {
		case err == nil && (found.Cron == "") != (given.Cron == ""):
			return fmt.Errorf("job %s: cron %s given, %s in the registry: %w", job, brief.Quote(given.Cron), brief.Quote(found.Cron), jobtype.ErrKindConflict) // running instances would refuse it
		case !c.options.JoinOnly && setup.Replaces(given.Config, there.Value):
			replaced = setup.Changes(found, given.Config)
		case err != nil:
			return fmt.Errorf("configuration of job %s in the registry: %w", job, err)
		default:
			kept, err := setup.Keep(given, found, there.Modified, c.options)
			if err == nil {
				c.setSettings(kept)
			}
			return err
		}
	}
	if err := jvm.CheckWrite(there.Value, jobtree.Read(c.view.Snapshot(), job)); err != nil {
		return fmt.Errorf("job %s: %w", job, err)
	}
	document, err := setup.Document(given.Config, there.Value)
	if err != nil {
		return err
	}
	write := coord.Create(job.Config(), document)
	if there.Created != 0 {
		write = coord.SetAt(job.Config(), document, there.Version)
	}
	ops := []coord.Op{coord.Put(job.Root(), []byte(c.options.Implementation)), write}
	revision, isDone := int64(0), false
	if there.Created == 0 {
		admit, err := c.readmit(ctx, read) // the view has no removal: only a conflict makes this program look
		if err != nil {
			return err
		}
		ops = append(ops, admit...)
		revision, isDone = c.bootstrapAtOnce(ctx, ops)
	}
	if !isDone {
		if revision, err = c.reg.Commit(urgency.With(ctx, urgency.Sooner), ops...); err != nil {
			return fmt.Errorf("set up job %s: %w", job, err)
		}
	}
	if len(replaced) > 0 {
		c.log.Info("this program's configuration replaces the registry's", zap.Strings("fields", replaced))
	}
	c.jvm.LogWritten(there.Value, jobtree.Read(c.view.Snapshot(), job).OldServers())
	given.Modified = revision
	return nil
}

// readmit returns the operations that let a commit write the configuration of a job that has none:
// the job was never removed, or what says so goes, because the program's revision is higher.
func (c *controller) readmit(ctx context.Context, read func(context.Context, string) (coord.Node, error)) ([]coord.Op, error) {
	path := c.job.Removal()
	note, err := read(ctx, path)
	if err != nil || note.Created == 0 {
		return []coord.Op{coord.Absent(path)}, err
	}
	d, err := jobtree.DecodeRemoval(note.Value)
	switch {
	case err != nil:
		return nil, fmt.Errorf("job %s: %w: %s: %w", c.job, jobtype.ErrJobRemoved, path, err)
	case c.settings.Revision > d.Revision:
		// Who has removed it may have ended before all of it was gone.
		if _, err := removal.Rest(ctx, c.reg, c.job); err != nil {
			return nil, fmt.Errorf("job %s: remove what is left of it: %w", c.job, err)
		}
		return []coord.Op{coord.AtVersion(path, note.Version), coord.DeleteTree(path)}, nil
	}
	return nil, fmt.Errorf("job %s: %w: %s; %s", c.job, jobtype.ErrJobRemoved, d, d.Cure())
}

// get reads a node from the store. A node that is not there is the zero Node.
func get(ctx context.Context, reg coord.Registry, path string) (coord.Node, error) {
	n, err := reg.Get(ctx, path)
	if errors.Is(err, coord.ErrNoNode) {
		return coord.Node{}, nil
	}
	return n, err
}
