package migrate

import (
	"context"
	"errors"
	"fmt"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/removal"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// position is where a job is, by both trees.
type position struct {
	config         coord.Node // of the source; zero if there is none
	source, target mark
}

// is reports whether the job is there as before.
func (p position) is(before position) bool {
	return p.config.Modified == before.config.Modified && p.source.Modified == before.source.Modified && p.target.Modified == before.target.Modified
}

// mark is the mark of a job on its way; zero if there is none.
type mark struct {
	coord.Node
	jobtree.MovingDocument
}

// look reads where some jobs are, in few requests.
func (r *run) look(ctx context.Context, names ...jobtree.Job) ([]position, error) {
	list := make([]position, len(names))
	var valid []int // others are an external writer's nodes, which can have no name of a job
	var atSource, atTarget []string
	for i, name := range names {
		if coord.ValidatePath(name.Config()) == nil {
			valid, atSource, atTarget = append(valid, i), append(atSource, name.Moving(), name.Config()), append(atTarget, name.Moving())
		}
	}
	source, err := getAll(ctx, r.source, atSource)
	if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	target, err := getAll(ctx, r.target, atTarget)
	if err != nil {
		return nil, fmt.Errorf("target: %w", err)
	}
	for n, i := range valid {
		at := &list[i]
		if at.source, err = r.mark(names[i], source[2*n]); err != nil {
			return nil, fmt.Errorf("source: %w", err)
		}
		if at.target, err = r.mark(names[i], target[n]); err != nil {
			return nil, fmt.Errorf("target: %w", err)
		}
		at.config = source[2*n+1]
	}
	return list, nil
}

func (r *run) mark(name jobtree.Job, n coord.Node) (m mark, err error) {
	if m.Node = n; n.Created == 0 {
		return m, nil
	}
	if m.MovingDocument, err = jobtree.DecodeMoving(m.Value); err != nil {
		return m, fmt.Errorf("%s: %w", m.Path, err)
	}
	switch m.Migration {
	case r.id:
	case r.target.id + "-" + r.source.id:
		return m, fmt.Errorf("%w: job %s is on its way in the other direction: go on with elasticjob migrate --from %s --to %s %s, or take it back with --abort", ErrOther, name, r.To.Name, r.From.Name, name)
	default:
		return m, fmt.Errorf("%w: %s is between two other namespaces; %s has their names", ErrOther, m.Path, name.Removal())
	}
	return m, nil
}

// step does what is next for a job, and reports whether nothing is left to do.
func (r *run) step(ctx context.Context, name jobtree.Job, at position) (isDone bool, err error) {
	isJob, isLeaving := at.config.Created != 0, at.source.Step == jobtree.Leaving
	switch at.target.Step {
	case jobtree.Arrived:
		switch {
		case isLeaving && isJob:
			return false, setUpAgain(name)
		case isLeaving:
			return false, r.clear(ctx, name)
		}
		r.isThrough(name, true)
		return true, r.forget(ctx, name)
	case jobtree.Arriving:
		switch {
		case isLeaving && r.isAbort:
			return false, r.restore(ctx, name, at)
		case isLeaving && isJob: // to remove it would remove what has not been carried
			return false, fmt.Errorf("%w: %s is there; end the program, take the migration back with --abort and run it again", ErrSetUpAgain, name.Config())
		case isLeaving:
			return false, r.carry(ctx, name, at)
		case isJob && !r.isAbort:
			return false, r.takeOut(ctx, name, at.config)
		}
		r.isThrough(name, false) // it stays, or was removed at the source
		return true, r.release(ctx, name)
	}
	if isLeaving || isJob && !r.isAbort {
		return false, r.reserve(ctx, name)
	}
	return true, nil
}

func setUpAgain(name jobtree.Job) error {
	return fmt.Errorf("%w: %s is there; remove it and run the migration again", ErrSetUpAgain, name.Config())
}

// note is the operation that keeps programs from setting a job up. No program has a higher revision. While
// the job is on its way, the note has the migration: then operators cannot, either.
func (r *run) note(name jobtree.Job, why, migration, movedTo string) coord.Op {
	d := jobtree.RemovalDocument{By: r.By, Why: why, At: r.now, Revision: jobtype.MaxRevision, Migration: migration, MovedTo: movedTo}
	return coord.Put(name.Removal(), jobtree.EncodeRemoval(d))
}

// reserve keeps others from setting the job up at the target while it is on its way.
func (r *run) reserve(ctx context.Context, name jobtree.Job) error {
	switch whyNot, err := r.isTaken(ctx, name); {
	case err != nil:
		return err
	case whyNot != "":
		return fmt.Errorf("%w: %s", ErrRefused, whyNot)
	}
	_, err := r.target.Commit(ctx, r.target.held(), coord.Absent(name.Config()), r.note(name, "is being moved here from "+r.From.Name, r.id, ""),
		coord.Create(name.Moving(), jobtree.EncodeMoving(jobtree.MovingDocument{Step: jobtree.Arriving, Migration: r.id})))
	return err
}

// isTaken returns why the target has no room for a job of that name; "" if it has.
func (r *run) isTaken(ctx context.Context, name jobtree.Job) (whyNot string, err error) {
	rest := ""
	for n, err := range r.target.Walk(ctx, name.Root()) {
		switch {
		case err != nil:
			return "", err
		case n.Path == name.Config() && n.Created != 0:
			return "the target has a job of that name", nil
		case rest == "" && len(n.Value) > 0: // others are parents, which a store may have left
			rest = n.Path
		}
		if rest != "" && n.Path > name.Config() {
			break
		}
	}
	if rest == "" {
		return "", nil
	}
	note, err := get(ctx, r.target, name.Removal())
	if err == nil && note.Created == 0 { // otherwise it is a rest, which goes
		whyNot = fmt.Sprintf("the target has nodes of a job of that name without a configuration, such as %s", brief.Quote(rest))
	}
	return whyNot, err
}

// takeOut takes the configuration out of the source's tree, as it goes when a job is removed: from this commit on nobody
// comes to run the job there, and the instances that do end: see awaitInstances.
func (r *run) takeOut(ctx context.Context, name jobtree.Job, config coord.Node) error {
	if _, err := jobtype.DecodeConfig(config.Value); err != nil { // it has changed since the plan
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	d := jobtree.MovingDocument{Step: jobtree.Leaving, Migration: r.id, Config: config.Value}
	ops := []coord.Op{
		r.source.held(), coord.AtVersion(name.Config(), config.Version), coord.DeleteTree(name.Config()), coord.DeleteTree(name.LeaderInstance()),
		r.note(name, "is being moved to "+r.To.Name, r.id, ""), coord.Create(name.Moving(), jobtree.EncodeMoving(d)),
	}
	for _, path := range []string{name.Instances(), name.Sessions()} {
		nodes, err := list(ctx, r.source, path)
		if err != nil {
			return err
		}
		for _, n := range nodes {
			if n.Owner != 0 && !r.StopInstances {
				return fmt.Errorf("%w: %w: %s", ErrRefused, ErrRunning, brief.Quote(coord.Base(n.Path)))
			}
		}
	}
	// What says that the job stands in files counts if it is not older than the configuration.
	applied, err := get(ctx, r.source, name.Applied())
	if err != nil {
		return err
	}
	if applied.Created != 0 && applied.Modified < config.Created {
		ops = append(ops, coord.DeleteTree(applied.Path))
	}
	_, err = r.source.Commit(ctx, ops...)
	return err
}

// carry writes at the target what the source has of a job, compares the two, and makes it a job there, by the
// commit that writes its configuration.
func (r *run) carry(ctx context.Context, name jobtree.Job, at position) error {
	if err := r.awaitInstances(ctx, name); err != nil {
		return err
	}
	c, err := r.pack(ctx, name, at)
	if err == nil {
		err = c.refused()
	}
	if err == nil {
		_, err = removal.Rest(ctx, r.target, name, r.target.held())
	}
	if errors.Is(err, removal.ErrConfigured) {
		return fmt.Errorf("%w: somebody has created a job of that name at the target", ErrRefused)
	}
	if err == nil {
		err = r.write(ctx, c)
	}
	if err == nil {
		err = r.compare(ctx, name, at)
	}
	if err != nil {
		return err
	}
	d := jobtree.MovingDocument{Step: jobtree.Arrived, Migration: r.id}
	ops := []coord.Op{
		r.target.held(), coord.SetAt(at.target.Path, jobtree.EncodeMoving(d), at.target.Version),
		coord.Put(name.Root(), c.implementation), coord.Create(name.Config(), c.config), coord.DeleteTree(name.Removal()),
	}
	applied, err := get(ctx, r.source, name.Applied())
	if err != nil {
		return err
	}
	if applied.Created != 0 {
		ops = append(ops, coord.Put(applied.Path, applied.Value))
	}
	_, err = r.target.Commit(ctx, ops...)
	return err
}

// clear removes at the source what is left of a job that has arrived.
func (r *run) clear(ctx context.Context, name jobtree.Job) error {
	if _, err := removal.Rest(ctx, r.source, name, r.source.held()); errors.Is(err, removal.ErrConfigured) {
		return setUpAgain(name)
	} else if err != nil {
		return err
	}
	_, err := r.source.Commit(ctx, r.source.held(), coord.Absent(name.Config()), coord.DeleteTree(name.Moving()), coord.DeleteTree(name.Applied()),
		r.note(name, "was moved to "+r.To.Name, "", r.To.Name))
	return err
}

// forget removes the mark of a job that has arrived, and of which the source has nothing any more.
func (r *run) forget(ctx context.Context, name jobtree.Job) error {
	_, err := r.target.Commit(ctx, r.target.held(), coord.DeleteTree(name.Moving()))
	return err
}

// restore makes what has left the source a job there again, unless somebody has set it up meanwhile.
func (r *run) restore(ctx context.Context, name jobtree.Job, at position) error {
	ops := []coord.Op{r.source.held(), coord.DeleteTree(name.Moving()), coord.DeleteTree(name.Removal())}
	if at.config.Created == 0 {
		ops = append(ops, coord.Create(name.Config(), at.source.Config))
	}
	applied, err := get(ctx, r.source, name.Applied())
	if err != nil {
		return err
	}
	if applied.Created != 0 { // it must not be older than the configuration
		ops = append(ops, coord.SetAt(applied.Path, applied.Value, applied.Version))
	}
	_, err = r.source.Commit(ctx, ops...)
	return err
}

// release removes at the target all that has arrived of a job that does not come. A note stays, as of a job
// that was removed there, which the target may have had before.
func (r *run) release(ctx context.Context, name jobtree.Job) error {
	ops := []coord.Op{r.target.held(), coord.DeleteTree(name.Moving())}
	switch _, err := removal.Rest(ctx, r.target, name, r.target.held()); {
	case err == nil:
		// It runs there, unless it was removed meanwhile: who sets it up here may have it run twice.
		ops = append(ops, r.note(name, "was not moved here from "+r.From.Name, "", r.From.Name))
	case !errors.Is(err, removal.ErrConfigured): // otherwise somebody has created a job of that name, which is his
		return err
	}
	_, err := r.target.Commit(ctx, ops...)
	return err
}
