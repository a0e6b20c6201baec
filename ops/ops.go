package ops

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/auditlog"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// Ops steers the jobs of one namespace. It is a value that is never changed: By and the like
// return another one.
type Ops struct {
	reg      coord.Registry
	by, from string
	why      string // the reason of changes that have none of their own
	isDry    bool
	onChange []func(Change)
	history  history.Reader        // nil if there is none
	only     func(job string) bool // nil wants all
	batch    *auditlog.Batch       // nil: each change has an entry of its own
}

// New returns the operations on the namespace of a registry. The registry stays the caller's.
// All methods may be called from any goroutine, and take as long as their context allows.
func New(reg coord.Registry, options ...Option) *Ops {
	o := &Ops{reg: reg}
	for _, option := range options {
		option(o)
	}
	return o
}

// Option is an option of [New].
type Option func(*Ops)

// By returns the same operations in the name of somebody, which the tree keeps for others to
// see. It is cut after 255 bytes.
func (o *Ops) By(name string) *Ops {
	return o.with(func(o *Ops) { o.by = brief.Cut(name, maxBy) })
}

// From returns the same operations with the place that they are done from, such as the address of
// who is logged in. The audit has it. It is cut after 255 bytes.
func (o *Ops) From(place string) *Ops {
	return o.with(func(o *Ops) { o.from = brief.Cut(place, maxBy) })
}

// Because returns the same operations with a reason for what they change: what has none of its own has it in the audit. It is
// cut after 255 bytes.
func (o *Ops) Because(why string) *Ops {
	return o.with(func(o *Ops) { o.why = brief.Cut(why, maxBy) })
}

// DryRun returns the same operations, which write nothing. All is read, checked and decided as
// ever, OnChange is told what would change, and results are those that there would be; only
// requests that would be made cannot be waited for. Errors are those that the store would return,
// as far as reading tells.
func (o *Ops) DryRun() *Ops { return o.with(func(o *Ops) { o.isDry = true }) }

// Together returns the same operations for one action on many jobs. Its changes that differ in no more than the job, and in a
// few words of Before and After, share an entry of the audit, for 200 jobs each. They are committed one after the other.
func (o *Ops) Together() *Ops { return o.with(func(o *Ops) { o.batch = auditlog.NewBatch() }) }

// OnChange returns the same operations, which also tell a function of each change that was made:
// of what takes several commits after each of them, with the same ID. Nothing that was as it
// should be is told. The function is called by the caller of the operation, before that returns: so
// side by side, if operations are.
func (o *Ops) OnChange(told func(Change)) *Ops {
	return o.with(func(o *Ops) { o.onChange = append(o.onChange[:len(o.onChange):len(o.onChange)], told) })
}

// Only returns the same operations, whose lists over all jobs have only those that a function wants:
// Jobs with its totals, Instances, Servers with what they have, JobsOn, AllSettings, Removed, and Audit, which
// leaves out what concerns the namespace, too. It is for those who may not see the others. What is asked of a job by its
// name, of a server or of a process is not limited, nor is a watch. The function is called by one
// goroutine at a time.
func (o *Ops) Only(wanted func(job string) bool) *Ops {
	return o.with(func(o *Ops) { o.only = wanted })
}

func (o *Ops) wants(job string) bool { return o.only == nil || o.only(job) }

// Registry returns the registry that New was given, for packages that look at all of it: doctor.
func (o *Ops) Registry() coord.Registry { return o.reg }

// with returns a copy that is changed.
func (o *Ops) with(change func(*Ops)) *Ops {
	copied := *o
	change(&copied)
	return &copied
}

func (o *Ops) tell(c Change) {
	for _, told := range o.onChange {
		told(c)
	}
}

const maxBy = 255

// Job returns the operations on one job. They fail with ErrNoJob if there is none of the name.
func (o *Ops) Job(name string) *Job { return &Job{ops: o, name: jobtree.Job(name)} }

// Job steers one job.
type Job struct {
	ops  *Ops
	name jobtree.Job
}

// check returns an error if no job can have the name.
func (j *Job) check() error {
	if j.name == "" || strings.Contains(string(j.name), "/") || coord.ValidatePath(j.name.Root()) != nil {
		return fmt.Errorf("%w: no job can have this name", ErrNoJob)
	}
	return nil
}

// read reads the tree of the job from the store.
func (j *Job) read(ctx context.Context) (*jobtree.State, error) {
	if err := j.check(); err != nil {
		return nil, err
	}
	tree := coord.NewTree(jobtree.SharedBounds())
	for n, err := range j.ops.reg.Walk(ctx, j.name.Root()) {
		if err != nil {
			return nil, err
		}
		tree.Put(n)
	}
	return j.state(tree)
}

// readItems is read for what concerns the executions of a few items. The rest of the tree may be large.
func (j *Job) readItems(ctx context.Context, items []int) (*jobtree.State, error) {
	if err := j.check(); err != nil {
		return nil, err
	}
	tree, known := coord.NewTree(), map[string]bool{}
	var err error // the first
	read := func(paths ...string) {
		for n := (coord.Node{}); err == nil && len(paths) > 0; paths = paths[1:] {
			if n, err = j.ops.reg.Get(ctx, paths[0]); err == nil {
				tree.Put(n)
			} else if errors.Is(err, coord.ErrNoNode) {
				tree.Delete(paths[0])
				err = nil
			}
		}
	}
	readRunner := func(i int) {
		n, _ := tree.Get(j.name.Running(i))
		if runner := string(n.Value); !known[runner] && coord.ValidatePath(j.name.Instance(runner)) == nil {
			known[runner] = true
			// Both nodes may go between two reads, and an instance without a session is a JVM member's.
			read(j.name.Session(runner), j.name.Instance(runner))
		}
	}
	read(j.name.Config())
	for _, i := range items {
		read(j.name.FailoverItem(i), j.name.Running(i))
		readRunner(i)
	}
	// What every execution changes comes last, the claim before its record: a slow store would keep a kill from them all.
	for _, i := range items {
		read(j.name.Fired(i), j.name.Running(i))
		readRunner(i)
	}
	if err != nil {
		return nil, err
	}
	return j.state(tree)
}

// state decodes a tree.
func (j *Job) state(tree *coord.Tree) (*jobtree.State, error) {
	s := jobtree.Read(tree.Snapshot(), j.name)
	if s.Config == nil {
		return nil, ErrNoJob
	}
	return s, nil
}

// now is the local time, corrected by how far it certainly is from the store's: the instances go by
// that, too. The store's clock itself may tell whole seconds only, as etcd's does.
func (o *Ops) now() time.Time {
	now := clocks.Wall()
	return now.Add(-o.reg.Clock().Ahead(now))
}

// attempts bounds how often a request is decided anew because something has changed between
// the look at the tree and the commit.
const attempts = 20

// try reads the tree and lets do decide and commit, until that meets no conflict.
func (j *Job) try(ctx context.Context, what string, do func(*jobtree.State) error) error {
	return j.tryOn(ctx, what, j.read, do)
}

// tryOn is try for who needs only a part of the tree.
func (j *Job) tryOn(ctx context.Context, what string, read func(context.Context) (*jobtree.State, error), do func(*jobtree.State) error) error {
	return j.again(ctx, what, func() error {
		s, err := read(ctx)
		if err != nil {
			return err
		}
		return do(s)
	})
}

// again has something done until that meets no conflict, and says in an error what it was.
func (j *Job) again(ctx context.Context, what string, do func() error) error {
	if err := again(ctx, do); err != nil {
		return fmt.Errorf("job %s: %s: %w", brief.Text(string(j.name)), what, err)
	}
	return nil
}

// again has something done until that meets no conflict.
func again(ctx context.Context, do func() error) error {
	backoff := sleep.Backoff{Min: 5 * time.Millisecond, Max: time.Second}
	var err error
	for range attempts {
		if err = do(); !isConflict(err) {
			return err
		}
		if !backoff.Wait(ctx) {
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
	return fmt.Errorf("%w: %w", ErrBusy, err)
}

// isConflict reports whether something has changed since it was read. On ZooKeeper a denial comes
// as a conflict, too, and no other attempt would do better.
func isConflict(err error) bool {
	return errors.Is(err, coord.ErrConflict) && !errors.Is(err, coord.ErrDenied)
}
