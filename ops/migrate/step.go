package migrate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/removal"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// position is where a job is, by both trees.
type position struct {
	config         coord.Node // of the source; zero if there is none
	source, target moving     // what the marks have of the job
}

// moving is the node of a job below a mark; zero if there is none.
type moving struct {
	coord.Node
	jobtree.MovingDocument
}

// look reads where a job is.
func (r *run) look(ctx context.Context, name jobtree.Job) (at position, err error) {
	if r.id != "" {
		if at.source, err = r.moving(ctx, r.From.Registry, name); err != nil {
			return at, fmt.Errorf("source: %w", err)
		}
		if at.target, err = r.moving(ctx, r.To.Registry, name); err != nil {
			return at, fmt.Errorf("target: %w", err)
		}
	}
	if coord.ValidatePath(name.Config()) != nil {
		return at, nil // an external writer's node, which can have no name of a job
	}
	at.config, err = get(ctx, r.From.Registry, name.Config())
	return at, err
}

func (r *run) moving(ctx context.Context, reg coord.Registry, name jobtree.Job) (m moving, err error) {
	if m.Node, err = get(ctx, reg, name.Moving(r.id)); err != nil || m.Created == 0 {
		return m, err
	}
	if m.MovingDocument, err = jobtree.DecodeMoving(m.Value); err != nil {
		return m, fmt.Errorf("%s: %w", m.Path, err)
	}
	return m, nil
}

// move brings one job to the target, from wherever it is, step by step. It reports whether the job
// is there.
func (r *run) move(ctx context.Context, name jobtree.Job) (isThere bool, err error) {
	for {
		isDone := false
		err := patiently(ctx, func() error {
			at, err := r.look(ctx, name)
			if err != nil {
				return err
			}
			isDone, isThere, err = r.step(ctx, name, at)
			return err
		})
		if err != nil || isDone {
			return isThere && err == nil, err
		}
	}
}

// step does what is next for a job.
func (r *run) step(ctx context.Context, name jobtree.Job, at position) (isDone, isThere bool, err error) {
	hasArrived := at.target.Step == jobtree.Arrived
	switch {
	case at.source.Step != "" && at.config.Created != 0:
		return true, false, fmt.Errorf("%w: %s is there; remove it and run the migration again, or abort that", ErrSetUpAgain, at.config.Path)
	case at.source.Step == jobtree.Left:
		return true, true, nil
	case at.source.Step == jobtree.Leaving && hasArrived && r.KeepSource:
		_, err := r.From.Registry.Commit(ctx, r.atSource(), r.hasMoved(name))
		return true, true, err
	case at.source.Step == jobtree.Leaving && hasArrived:
		return false, false, r.clear(ctx, name, at)
	case at.source.Step == jobtree.Leaving && at.target.Step == jobtree.Arriving:
		return false, false, r.carry(ctx, name, at)
	case at.target.Step == "" && (at.config.Created != 0 || at.source.Step == jobtree.Leaving):
		return false, false, r.reserve(ctx, name, at)
	case at.config.Created != 0:
		return false, false, r.takeOut(ctx, name, at)
	case at.target.Step == jobtree.Arriving: // it was removed at the source
		return true, false, r.release(ctx, name, at)
	}
	return true, false, nil
}

// pack reads what of a job goes.
func (r *run) pack(ctx context.Context, name jobtree.Job, at position) (*cargo, error) {
	tree, err := read(ctx, r.From.Registry, name.Root())
	if err != nil {
		return nil, err
	}
	if at.source.Step == jobtree.Leaving {
		tree.Put(coord.Node{Path: name.Config(), Value: at.source.Kept})
	}
	return pack(name, tree, r.settler), nil
}

// isFree reports whether the target has the very same job. Otherwise, whyNot says why the job cannot
// go there; it is empty if it can.
func (r *run) isFree(ctx context.Context, name jobtree.Job, at position) (isSame bool, whyNot string, err error) {
	config, err := get(ctx, r.To.Registry, name.Config())
	switch {
	case err != nil:
		return false, "", err
	case config.Created != 0:
		isSame, err = r.isSame(ctx, name, at)
		if err == nil && !isSame {
			whyNot = "the target has a job of that name"
		}
		return isSame, whyNot, err
	}
	for n, err := range r.To.Registry.Walk(ctx, name.Root()) {
		if err != nil {
			return false, "", err
		}
		if len(n.Value) == 0 {
			continue // a parent, which a store may have left
		}
		note, err := get(ctx, r.To.Registry, name.Removal())
		if err == nil && note.Created == 0 { // otherwise it is a rest, which goes
			whyNot = fmt.Sprintf("the target has nodes of a job of that name without a configuration, such as %s", brief.Quote(n.Path))
		}
		return false, whyNot, err
	}
	return false, "", nil
}

// isSame reports whether both sides have the same of a job.
func (r *run) isSame(ctx context.Context, name jobtree.Job, at position) (bool, error) {
	tree, err := read(ctx, r.To.Registry, name.Root())
	if err != nil {
		return false, err
	}
	here, err := r.pack(ctx, name, at)
	if err != nil {
		return false, err
	}
	there := pack(name, tree, r.settler)
	return here.refused() == nil && there.refused() == nil && there.settings.Equal(here.settings) &&
		bytes.Equal(there.implementation, here.implementation) && len(differences(here.nodes, there.nodes)) == 0, nil
}

// reserve keeps others from setting the job up at the target while it is on its way.
func (r *run) reserve(ctx context.Context, name jobtree.Job, at position) error {
	if at.source.Step != jobtree.Leaving {
		if _, err := r.mayLeave(ctx, name, at); err != nil {
			return err
		}
	}
	isSame, whyNot, err := r.isFree(ctx, name, at)
	switch {
	case err != nil:
		return err
	case whyNot != "":
		return fmt.Errorf("%w: %s", ErrRefused, whyNot)
	case isSame:
		_, err = r.To.Registry.Commit(ctx, r.atTarget(), coord.Exists(name.Config()), coord.Create(name.Moving(r.id), jobtree.EncodeMoving(jobtree.MovingDocument{Step: jobtree.Arrived})))
		return err
	}
	note, err := get(ctx, r.To.Registry, name.Removal())
	if err != nil {
		return err
	}
	d := jobtree.MovingDocument{Step: jobtree.Arriving}
	asSeen := coord.Absent(name.Removal())
	if note.Created != 0 {
		d.Kept, asSeen = append([]byte{}, note.Value...), coord.AtVersion(name.Removal(), note.Version)
	}
	_, err = r.To.Registry.Commit(ctx, r.atTarget(), asSeen, coord.Absent(name.Config()),
		coord.Create(name.Moving(r.id), jobtree.EncodeMoving(d)), coord.Put(name.Removal(), r.note("is being moved here from "+r.From.Name, r.id)))
	return err
}

// mayLeave returns why a job cannot leave the source any more, although the plan says that it can; or
// else the conditions on which it can. It does not read the whole job: that may be large.
func (r *run) mayLeave(ctx context.Context, name jobtree.Job, at position) (conditions []coord.Op, err error) {
	if _, err := jobtype.DecodeConfig(at.config.Value); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	conditions = []coord.Op{coord.AtVersion(name.Config(), at.config.Version)}
	for _, path := range []string{name.Instances(), name.Sessions()} {
		nodes, err := r.From.Registry.List(ctx, path)
		if errors.Is(err, coord.ErrNoNode) { // not even the parent, which some stores keep
			conditions = append(conditions, coord.Absent(path))
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, n := range nodes {
			if n.Owner != 0 && !r.StopInstances {
				return nil, fmt.Errorf("%w: %w: %s", ErrRefused, ErrRunning, brief.Quote(coord.Base(n.Path)))
			}
		}
	}
	return conditions, nil
}

// note is the value of the node that keeps programs from setting a job up. No program has a higher
// revision. While the job is on its way, the note has the migration: then operators cannot, either.
func (r *run) note(why, migration string) []byte {
	return jobtree.EncodeRemoval(jobtree.RemovalDocument{By: r.By, Why: why, At: r.now, Revision: jobtype.MaxRevision, Migration: migration})
}

// hasMoved is the operation that notes at the source that a job is on its way no more.
func (r *run) hasMoved(name jobtree.Job) coord.Op {
	return coord.Put(name.Removal(), r.note("was moved to "+r.To.Name, ""))
}

// takeOut takes the configuration out of the source's tree: from this commit on nobody runs the job
// there, and nobody writes to it. It is the same commit by which a job is removed.
func (r *run) takeOut(ctx context.Context, name jobtree.Job, at position) error {
	conditions, err := r.mayLeave(ctx, name, at)
	if err != nil {
		return err
	}
	d := jobtree.MovingDocument{Step: jobtree.Leaving, Kept: at.config.Value}
	ops := append(conditions,
		r.atSource(), coord.DeleteTree(name.Config()), coord.DeleteTree(name.Sessions()), coord.DeleteTree(name.Instances()), coord.DeleteTree(name.LeaderInstance()),
		coord.Put(name.Removal(), r.note("is being moved to "+r.To.Name, r.id)), coord.Create(name.Moving(r.id), jobtree.EncodeMoving(d)),
	)
	// What says that the job stands in files counts if it is not older than the configuration.
	applied, err := get(ctx, r.From.Registry, name.Applied())
	if err != nil {
		return err
	}
	if applied.Created != 0 && applied.Modified < at.config.Created {
		ops = append(ops, coord.DeleteTree(applied.Path))
	}
	_, err = r.From.Registry.Commit(ctx, ops...)
	return err
}

// carry writes at the target what the source has of a job, compares the two, and makes it a job there.
func (r *run) carry(ctx context.Context, name jobtree.Job, at position) error {
	c, err := r.pack(ctx, name, at)
	if err != nil {
		return err
	}
	if err := c.refused(); err != nil {
		return err
	}
	arriving, err := r.renew(ctx, name, at, coord.Absent(name.Config()), coord.Put(name.Removal(), r.note("is being moved here from "+r.From.Name, r.id)))
	if errors.Is(err, coord.ErrNodeExists) {
		return fmt.Errorf("%w: somebody has created a job of that name at the target", ErrRefused)
	}
	if err != nil {
		return err
	}
	guards := []coord.Op{r.atTarget(), coord.AtVersion(arriving.Path, arriving.Version)}
	if _, err := removal.Rest(ctx, r.To.Registry, name, guards...); err != nil {
		return err
	}
	written, err := r.write(ctx, c, guards)
	if err == nil {
		err = r.compare(ctx, c, at)
	}
	if err == nil {
		err = r.admit(ctx, c, arriving)
	}
	if err != nil {
		r.bar.add(-written)
	}
	return err
}

// renew gives the node of a job that arrives another version. A part of the job that was sent before, and
// whose answer was lost, may come late: it has no effect then, because its condition is the old one.
func (r *run) renew(ctx context.Context, name jobtree.Job, at position, more ...coord.Op) (moving, error) {
	ops := append([]coord.Op{r.atTarget(), coord.SetAt(at.target.Path, at.target.Value, at.target.Version)}, more...)
	if _, err := r.To.Registry.Commit(ctx, ops...); err != nil {
		return moving{}, err
	}
	return r.moving(ctx, r.To.Registry, name)
}

// write writes the nodes of a job, on conditions.
func (r *run) write(ctx context.Context, c *cargo, guards []coord.Op) (written int, err error) {
	w := writer{reg: r.To.Registry, guards: guards, written: func(ops int) {
		written += ops
		r.bar.add(ops)
	}}
	for _, n := range c.nodes {
		if err := w.add(ctx, coord.Put(n.path, n.value)); err != nil {
			return written, err
		}
	}
	err = w.flush(ctx)
	return written, err
}

// compare reads both sides again. The target has to have what the source has, and nothing else.
func (r *run) compare(ctx context.Context, c *cargo, at position) error {
	again, err := r.pack(ctx, c.job, at)
	if err != nil {
		return err
	}
	tree, err := read(ctx, r.To.Registry, c.job.Root())
	if err != nil {
		return err
	}
	var there []node
	for n := range tree.Snapshot().All(c.job.Root()) {
		if _, isOurs := find(c.nodes, n.Path); isOurs || len(n.Value) > 0 || n.Owner != 0 {
			there = append(there, node{n.Path, n.Value})
		}
	}
	slices.SortFunc(there, comparePaths)
	var list brief.List
	for _, path := range append(differences(c.nodes, again.nodes), differences(c.nodes, there)...) {
		list.Add(path)
	}
	if !list.Empty() {
		return fmt.Errorf("%w: %v", ErrDiffers, &list)
	}
	return nil
}

// admit makes what has arrived a job: this commit writes its configuration.
func (r *run) admit(ctx context.Context, c *cargo, arriving moving) error {
	ops := []coord.Op{
		r.atTarget(), coord.SetAt(arriving.Path, jobtree.EncodeMoving(jobtree.MovingDocument{Step: jobtree.Arrived}), arriving.Version),
		coord.Put(c.job.Root(), c.implementation), coord.Create(c.job.Config(), c.config), coord.DeleteTree(c.job.Removal()),
	}
	applied, err := get(ctx, r.From.Registry, c.job.Applied())
	if err != nil {
		return err
	}
	if applied.Created != 0 {
		ops = append(ops, coord.Put(applied.Path, applied.Value))
	}
	if _, err := r.To.Registry.Commit(ctx, ops...); err != nil {
		return err
	}
	r.bar.add(2)
	return nil
}

// clear removes at the source what is left of a job that has arrived.
func (r *run) clear(ctx context.Context, name jobtree.Job, at position) error {
	if _, err := removal.Rest(ctx, r.From.Registry, name, r.atSource(), coord.AtVersion(at.source.Path, at.source.Version)); errors.Is(err, removal.ErrConfigured) {
		return fmt.Errorf("%w: %w", ErrSetUpAgain, err)
	} else if err != nil {
		return err
	}
	_, err := r.From.Registry.Commit(ctx, r.atSource(), coord.SetAt(at.source.Path, jobtree.EncodeMoving(jobtree.MovingDocument{Step: jobtree.Left}), at.source.Version), coord.DeleteTree(name.Applied()), r.hasMoved(name))
	return err
}

// release gives up what reserve has kept at the target, with all that has arrived there.
func (r *run) release(ctx context.Context, name jobtree.Job, at position) error {
	arriving, err := r.renew(ctx, name, at)
	if err != nil {
		return err
	}
	guards := []coord.Op{r.atTarget(), coord.AtVersion(arriving.Path, arriving.Version)}
	ops := append(guards[:2:2], coord.DeleteTree(arriving.Path))
	switch _, err := removal.Rest(ctx, r.To.Registry, name, guards...); {
	case errors.Is(err, removal.ErrConfigured): // somebody has created a job of that name, which is his
	case err != nil:
		return err
	case at.target.Kept != nil:
		ops = append(ops, coord.Put(name.Removal(), at.target.Kept))
	default:
		ops = append(ops, coord.DeleteTree(name.Removal()))
	}
	_, err = r.To.Registry.Commit(ctx, ops...)
	return err
}

// putBack ends the move of one job: it reports whether the job is at the target.
func (r *run) putBack(ctx context.Context, name jobtree.Job) (hasMoved bool, err error) {
	for isDone := false; !isDone && err == nil; {
		err = patiently(ctx, func() error {
			isDone = false
			at, err := r.look(ctx, name)
			if err != nil {
				return err
			}
			hasMoved = at.target.Step == jobtree.Arrived && at.source.Step != ""
			switch {
			case at.source.Step == jobtree.Leaving && !hasMoved: // before others may set it up at the target
				err = r.restore(ctx, name, at)
			case at.target.Step == jobtree.Arriving:
				err = r.release(ctx, name, at)
			case at.source.Step == jobtree.Leaving && at.config.Created == 0 && !r.KeepSource:
				err = r.clear(ctx, name, at)
			case at.source.Step == jobtree.Leaving && at.config.Created == 0:
				isDone = true
				_, err = r.From.Registry.Commit(ctx, r.atSource(), r.hasMoved(name))
			default:
				isDone = true
			}
			return err
		})
	}
	return hasMoved, err
}

// restore makes what has left the source a job there again, unless somebody has set it up meanwhile.
func (r *run) restore(ctx context.Context, name jobtree.Job, at position) error {
	config := coord.Create(name.Config(), at.source.Kept)
	if at.config.Created != 0 {
		config = coord.AtVersion(name.Config(), at.config.Version)
	}
	ops := []coord.Op{
		r.atSource(), coord.AtVersion(at.source.Path, at.source.Version), coord.DeleteTree(at.source.Path), config, coord.DeleteTree(name.Removal()),
	}
	applied, err := get(ctx, r.From.Registry, name.Applied())
	if err != nil {
		return err
	}
	if applied.Created != 0 { // it must not be older than the configuration
		ops = append(ops, coord.SetAt(applied.Path, applied.Value, applied.Version))
	}
	_, err = r.From.Registry.Commit(ctx, ops...)
	return err
}

// atSource and atTarget are the conditions that nobody else has taken over the migration.
func (r *run) atSource() coord.Op { return coord.AtVersion(jobtree.Migration(r.id), r.source) }

func (r *run) atTarget() coord.Op { return coord.AtVersion(jobtree.Migration(r.id), r.mark) }
