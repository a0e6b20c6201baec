package ops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/removal"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// RemoveRequest says how a job is to be removed.
type RemoveRequest struct {
	// Why is for people. It is cut after 255 bytes.
	Why string
	// Version is the one that the configuration has to have: see Settings. 0 is any.
	Version int64
	// Set is the set of files that the job has to belong to: see Apply. "" is any, or none.
	Set string
}

// Remove removes the job, with all that the registry has of it. Its instances stop with
// jobtype.ErrJobRemoved: the contexts of handlers that run end, and nobody runs their items again. The
// job stays removed: no program sets it up again, unless its Config.Revision is higher than that
// of the configuration that was removed, or until [Ops.Readmit] or [Ops.Create]. One that was moved stays moved.
//
// An instance that has not seen the removal when the job is created again goes on as a member of
// the new one.
//
// A small job goes in one commit. Of a large one the configuration goes first, and the rest in
// parts. If Remove fails before all is gone, call it again. [Ops.Removed] lists the newest 10,000
// removed jobs, and some hundreds more; older ones are forgotten.
//
// Errors: ErrNoJob if nothing is there; ErrConfigChanged; ErrOtherSet; those of a read and of
// a commit.
func (j *Job) Remove(ctx context.Context, r RemoveRequest) error {
	begun := false
	return j.again(ctx, "remove", func() error {
		if !jobtree.IsName(string(j.name)) {
			return fmt.Errorf("%w: no job can have this name", ErrNoJob)
		}
		config, err := j.config(ctx)
		if err == nil && r.Version != 0 && config.Modified != r.Version {
			return fmt.Errorf("%w: it has version %d, not %d", ErrConfigChanged, config.Modified, r.Version)
		}
		if err == nil {
			begun = true
			err = j.remove(ctx, config, r)
		} else if errors.Is(err, ErrNoJob) {
			var was bool
			if was, err = j.removeRest(ctx); err == nil && !was && !begun {
				return ErrNoJob
			}
		}
		if errors.Is(err, coord.ErrUnknownOutcome) { // the next look tells
			return fmt.Errorf("%w: %w", coord.ErrConflict, err)
		}
		return err
	})
}

// remove removes a job whose configuration is there.
func (j *Job) remove(ctx context.Context, config coord.Node, r RemoveRequest) error {
	isSmall, err := removal.IsSmall(ctx, j.ops.reg, j.name)
	if err != nil {
		return err
	}
	before, err := j.ops.nodes(ctx, j.name.Removal())
	if err != nil {
		return err
	}
	c, _ := jobtype.DecodeConfig(config.Value)
	d, _ := jobtree.DecodeRemoval(before[0].Value) // a JVM member may have set up a job again that was moved
	d = jobtree.RemovalDocument{By: j.ops.by, Why: cmp.Or(r.Why, d.Why), At: j.ops.now(), Revision: max(c.Revision, d.Revision), MovedTo: d.MovedTo}
	ops := []coord.Op{coord.AtVersion(j.name.Config(), config.Version), coord.Put(j.name.Removal(), jobtree.EncodeRemoval(d)), coord.DeleteTree(j.name.Applied())}
	if r.Set != "" {
		isOwn, err := j.ofSet(ctx, r.Set)
		if err != nil {
			return err
		}
		ops = append(ops, isOwn)
	}
	if isSmall {
		ops = append(ops, coord.DeleteTree(j.name.Root()))
	} else {
		// Whatever a member writes, it does on condition of its session's node, or of the leader's.
		for _, path := range []string{j.name.Config(), j.name.Sessions(), j.name.Instances(), j.name.LeaderInstance()} {
			ops = append(ops, coord.DeleteTree(path))
		}
	}
	act, err := j.ops.act(j.name, ActionRemove)
	if err != nil {
		return err
	}
	act.change.Why = r.Why
	if _, err := act.says("", string(config.Value), "").commit(ctx, ops...); err != nil {
		return err
	}
	if j.ops.isDry {
		return nil
	}
	if !isSmall {
		if _, err := removal.Rest(ctx, j.ops.reg, j.name); err != nil && !errors.Is(err, removal.ErrConfigured) {
			return err
		}
	}
	if removal.IsToTrim(j.name) {
		_ = removal.Trim(ctx, j.ops.reg, removal.MaxKept) // the job is removed; whoever removes the next one may trim
	}
	return nil
}

// removeRest removes what is left of a job that was removed. Without a note of that, what has no
// configuration is not a job's. It reports whether anything was left.
func (j *Job) removeRest(ctx context.Context) (was bool, err error) {
	n, err := j.ops.nodes(ctx, j.name.Removal())
	if err != nil {
		return false, err
	}
	return j.removeRestOf(ctx, n[0])
}

// removeRestOf is removeRest when the note has been read.
func (j *Job) removeRestOf(ctx context.Context, n coord.Node) (was bool, err error) {
	if n.Path == "" {
		return false, nil
	}
	if d, err := jobtree.DecodeRemoval(n.Value); err == nil && d.Migration != "" {
		return false, fmt.Errorf("%w: %s, migration %s", ErrMoving, d.Why, d.Migration)
	}
	if j.ops.isDry {
		return false, nil
	}
	return removal.Rest(ctx, j.ops.reg, j.name)
}

// makeRoom does what comes before a job is created: what is left of one that was removed goes. One that was moved may not
// be created, because it would run twice.
func (j *Job) makeRoom(ctx context.Context, removed coord.Node) error {
	if err := j.moved(removed); err != nil {
		return err
	}
	_, err := j.removeRestOf(ctx, removed)
	return err
}

// moved returns ErrMoved if the note of a removal is that of a migration that is over.
func (j *Job) moved(removed coord.Node) error {
	if d, err := jobtree.DecodeRemoval(removed.Value); err == nil && d.MovedTo != "" {
		return fmt.Errorf("%w: it is in %s; if it does not run there any more: elasticjob readmit %s --moved", ErrMoved, brief.Text(d.MovedTo), j.name)
	}
	return nil
}

// Removed is a job that was removed.
type Removed struct {
	Name string
	// By and Why are what was said then, and At is when it was.
	By, Why string
	At      time.Time
	// Revision is that of the configuration that was removed. A program with a higher one sets the
	// job up again.
	Revision int
	// Expired is whether the job was removed because it had no tick left: see job.Expiry.
	Expired bool
	// Migration is the id of the migration with which the job is on its way; empty if it is not. MovedTo is where a
	// migration has moved it; empty if none has.
	Migration, MovedTo string
	// Err says why nothing of this can be told, except the name. No program sets such a job up again.
	Err error
}

// Removed returns the jobs that were removed and may not be set up again, by name.
//
// Errors: those of a read.
func (o *Ops) Removed(ctx context.Context) ([]Removed, error) {
	nodes, err := o.reg.List(ctx, jobtree.Removals)
	if err != nil && !errors.Is(err, coord.ErrNoNode) {
		return nil, fmt.Errorf("removed jobs: %w", err)
	}
	list := make([]Removed, 0, len(nodes))
	for _, n := range nodes {
		if !o.wants(coord.Base(n.Path)) {
			continue
		}
		d, err := jobtree.DecodeRemoval(n.Value)
		list = append(list, Removed{Name: coord.Base(n.Path), By: d.By, Why: d.Why, At: d.At, Revision: d.Revision, Expired: d.Expired, Migration: d.Migration, MovedTo: brief.Text(d.MovedTo), Err: err})
	}
	return list, nil
}

// ReadmitRequest says how a job is readmitted.
type ReadmitRequest struct {
	// Moved readmits a job even if it was moved to another namespace: somebody has seen to it that it does not run there.
	Moved bool
}

// Readmit lets programs set a job up again that was removed. What a removal that was cut short has left
// of it goes first. Otherwise it is one commit.
//
// Errors: ErrNotRemoved; ErrMoving; ErrMoved; those of a read and of a commit.
func (o *Ops) Readmit(ctx context.Context, name string, r ReadmitRequest) error {
	err := ErrNotRemoved
	if jobtree.IsName(name) {
		err = o.readmit(ctx, o.Job(name), r)
	}
	if err != nil {
		return fmt.Errorf("job %s: readmit: %w", brief.Text(name), err)
	}
	return nil
}

func (o *Ops) readmit(ctx context.Context, j *Job, r ReadmitRequest) error {
	n, err := o.reg.Get(ctx, j.name.Removal())
	if errors.Is(err, coord.ErrNoNode) {
		return ErrNotRemoved
	}
	if err != nil {
		return err
	}
	if err := j.moved(n); err != nil && !r.Moved {
		return err
	}
	// Without the note nobody takes it for a rest any more.
	if _, err := j.removeRest(ctx); err != nil && !errors.Is(err, removal.ErrConfigured) {
		return err
	}
	act, err := o.act(j.name, ActionReadmit)
	if err != nil {
		return err
	}
	isAsSeen := coord.AtVersion(j.name.Removal(), n.Version) // a migration may end meanwhile
	if n.Created == 0 {
		isAsSeen = coord.Exists(j.name.Removal())
	}
	_, err = act.commit(ctx, isAsSeen, coord.DeleteTree(j.name.Removal()))
	if isConflict(err) {
		err = fmt.Errorf("%w: %w", ErrNotRemoved, err)
	}
	return err
}
