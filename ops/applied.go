package ops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// ApplyRequest says how a job is to be, as a set of files describes it.
type ApplyRequest struct {
	// Set is the name of the set, with characters as in the name of a job. A job belongs to one set
	// at most.
	Set string
	// Config is that of the job, and Implementation is what runs it: see CreateRequest.
	Config         jobtype.Config
	Implementation string
	// Version is the one that the configuration has to have: see Settings. 0 means that there has to
	// be no such job.
	Version int64
	// Was is what has to run the job until now. It counts if there is a version.
	Was string
	// Adopt takes the job from another set.
	Adopt bool
}

// Apply creates a job, or replaces its configuration and its implementation, and notes that it
// belongs to a set: all in one commit, and only if nobody has changed the job since it was read.
// What holds for Create and for Update holds here, too. If all is so already nothing is written.
//
// Errors: ErrJobExists, ErrNoJob, ErrConfigChanged: the job is not as it was; ErrOtherSet; ErrMoved;
// jobtype.ErrKindConflict; jobtype.ErrOldMembers; a *job.ConfigError; those of a read and of a commit.
func (o *Ops) Apply(ctx context.Context, r ApplyRequest) error {
	j := o.Job(r.Config.Name)
	return j.again(ctx, "apply", func() error {
		if err := r.check(); err != nil {
			return err
		}
		if err := j.check(); err != nil {
			return err
		}
		nodes, err := j.ops.nodes(ctx, j.name.Config(), j.name.Root(), j.name.Applied(), j.name.Removal())
		if err != nil {
			return err
		}
		there, root := nodes[0], nodes[1]
		isThere := there.Path != ""
		switch {
		case isThere && r.Version == 0:
			return ErrJobExists
		case !isThere && r.Version != 0:
			return ErrNoJob
		}
		mark, err := j.markOf(r, there, nodes[2])
		if err != nil {
			return err
		}
		if isThere {
			return j.applyOver(ctx, r, there, root, mark)
		}
		return j.applyNew(ctx, r, mark, nodes[3])
	})
}

func (r ApplyRequest) check() error {
	if !jobtree.IsName(r.Set) {
		return fmt.Errorf("set %s: 1 to %d ASCII letters, digits, '.', '_', '-' and ':' are allowed", brief.Quote(r.Set), jobtree.MaxNameLength)
	}
	return checkImplementation(r.Implementation)
}

// mark is what is noted of a job that belongs to a set.
type mark struct {
	write coord.Op
	isOwn bool // it is so already
}

// markOf returns how the job is noted as one of the set. It is refused if another set has it. A
// note that is older than the job is that of an earlier one.
func (j *Job) markOf(r ApplyRequest, there, n coord.Node) (mark, error) {
	value := jobtree.EncodeApplied(jobtree.AppliedDocument{Set: r.Set, By: j.ops.by, At: j.ops.now()})
	if n.Path == "" {
		return mark{write: coord.Create(j.name.Applied(), value)}, nil
	}
	m := mark{write: coord.SetAt(j.name.Applied(), value, n.Version)}
	if r.Version == 0 || n.Modified < there.Created {
		return m, nil
	}
	d, err := jobtree.DecodeApplied(n.Value)
	if m.isOwn = err == nil && d.Set == r.Set; m.isOwn || r.Adopt {
		return m, nil
	}
	if err != nil {
		return mark{}, fmt.Errorf("%w: %w", ErrOtherSet, err)
	}
	return mark{}, fmt.Errorf("%w: %s", ErrOtherSet, d.Set)
}

// applyNew creates the job.
func (j *Job) applyNew(ctx context.Context, r ApplyRequest, m mark, removed coord.Node) error {
	document, err := r.Config.Encode(nil)
	if err != nil {
		return err
	}
	if err := j.makeRoom(ctx, removed); err != nil {
		return err
	}
	act, err := j.ops.act(j.name, ActionApply)
	if err != nil {
		return err
	}
	_, err = act.says(r.detail(""), "", string(document)).commit(ctx, append(j.created(r.Implementation, document), m.write)...)
	return err
}

// applyOver replaces what the registry has of the job.
func (j *Job) applyOver(ctx context.Context, r ApplyRequest, there, root coord.Node, m mark) error {
	_, document, err := j.replace(there, UpdateRequest{Config: r.Config, Version: r.Version})
	if err != nil {
		return err
	}
	was := string(root.Value)
	if was != r.Was {
		return fmt.Errorf("%w: its implementation is %s, not %s", ErrConfigChanged, brief.Quote(was), brief.Quote(r.Was))
	}
	isSame := bytes.Equal(document, there.Value)
	if isSame && was == r.Implementation && m.isOwn {
		return nil
	}
	ops := []coord.Op{m.write, coord.SetAt(j.name.Config(), document, there.Version)}
	if isSame {
		ops[1] = coord.AtVersion(j.name.Config(), there.Version)
	} else if err := j.checkOldMembers(ctx, there); err != nil {
		return err
	}
	switch {
	case was == r.Implementation:
	case was == "": // perhaps nobody has written the node
		ops = append(ops, coord.Put(j.name.Root(), []byte(r.Implementation)))
	default:
		ops = append(ops, coord.SetAt(j.name.Root(), []byte(r.Implementation), root.Version))
	}
	act, err := j.ops.act(j.name, ActionApply)
	if err != nil {
		return err
	}
	_, err = act.says(r.detail(was), string(there.Value), string(document)).commit(ctx, ops...)
	return err
}

// detail says what is applied beside the configuration.
func (r ApplyRequest) detail(was string) string {
	text := "set " + r.Set
	if was != r.Implementation {
		text += ", implementation " + brief.Text(r.Implementation)
	}
	return text
}

// ofSet returns what holds if the job belongs to a set.
func (j *Job) ofSet(ctx context.Context, set string) (coord.Op, error) {
	n, err := j.ops.reg.Get(ctx, j.name.Applied())
	if errors.Is(err, coord.ErrNoNode) {
		return coord.Op{}, fmt.Errorf("%w, or to none", ErrOtherSet)
	}
	if err != nil {
		return coord.Op{}, err
	}
	if d, err := jobtree.DecodeApplied(n.Value); err != nil || d.Set != set {
		return coord.Op{}, fmt.Errorf("%w: %s", ErrOtherSet, brief.Text(d.Set))
	}
	return coord.AtVersion(n.Path, n.Version), nil
}

// Applied is a job that belongs to a set of files.
type Applied struct {
	Job string `json:"job"`
	Set string `json:"set"`
	// By is who has applied it last, and At when that was.
	By string    `json:"by,omitempty"`
	At time.Time `json:"at,omitzero"`
	// Written is the number of the commit. If it is less than Settings.Created, the job was removed
	// since, not by this package, and is another one now: it belongs to no set.
	Written int64 `json:"written"`
	// Err says why nothing of this can be told, except the name.
	Err error `json:"-"`
}

// Applied returns the jobs that belong to sets, by name.
//
// Errors: those of a read.
func (o *Ops) Applied(ctx context.Context) ([]Applied, error) {
	nodes, err := o.reg.List(ctx, jobtree.AppliedJobs)
	if err != nil && !errors.Is(err, coord.ErrNoNode) {
		return nil, fmt.Errorf("applied jobs: %w", err)
	}
	list := make([]Applied, 0, len(nodes))
	for _, n := range nodes {
		d, err := jobtree.DecodeApplied(n.Value)
		list = append(list, Applied{Job: coord.Base(n.Path), Set: d.Set, By: d.By, At: d.At, Written: n.Modified, Err: err})
	}
	return list, nil
}

// Release takes a job out of its set. It stays as it is, and no prune removes it. If there is no
// such job any more, only the note of it goes.
//
// Errors: ErrOtherSet, if it belongs to another set or to none; those of a read and of a commit.
func (j *Job) Release(ctx context.Context, set string) error {
	return j.again(ctx, "release", func() error {
		if !jobtree.IsName(string(j.name)) {
			return fmt.Errorf("%w: no job can have this name", ErrNoJob)
		}
		isOwn, err := j.ofSet(ctx, set)
		if err != nil {
			return err
		}
		act, err := j.ops.act(j.name, ActionRelease)
		if err != nil {
			return err
		}
		_, err = act.says("set "+set, "", "").commit(ctx, isOwn, coord.DeleteTree(j.name.Applied()))
		return err
	})
}
