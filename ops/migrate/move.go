package migrate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/errclass"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Errors that a program may want to tell apart.
var (
	// ErrRefused: something cannot go, or must not. [Plan.Refused] lists it.
	ErrRefused = errclass.FailedPrecondition.New("", "migrate: refused")
	// ErrRunning: instances run at the source. It comes with ErrRefused.
	ErrRunning = errclass.FailedPrecondition.New("", "migrate: instances run at the source")
	// ErrOther: a job is on its way between other namespaces, or in the other direction.
	ErrOther = errclass.FailedPrecondition.New("", "migrate: another migration is half done")
	// ErrNone: there is no migration to be aborted.
	ErrNone = errclass.NotFound.New("", "migrate: nothing is half done")
	// ErrEmpty: the namespace that all jobs are to leave has none, and nothing else that goes.
	ErrEmpty = errclass.NotFound.New("", "migrate: the source has no jobs")
	// ErrTakenOver: somebody else has begun to move jobs from or to one of the namespaces, or to abort that. The error
	// says who, if that is known.
	ErrTakenOver = errclass.Aborted.New("", "migrate: another run is at work")
	// ErrDiffers: what stands at the target is not what should. The job has not become one there.
	ErrDiffers = errclass.FailedPrecondition.New("", "migrate: source and target differ")
	// ErrSetUpAgain: a job that has left is there again at the source. It may run on both sides.
	ErrSetUpAgain = errclass.FailedPrecondition.New("", "migrate: the job was set up again at the source")
)

// Store is one side of a move: a namespace of a store.
type Store struct {
	Registry coord.Registry
	// Name is for people: what a user of the store calls it. It stands in the trees, where it is cut after 255
	// bytes, so it must not have a password.
	Name string
	// ZooKeeper is whether it is one, so that JVM programs can be members there.
	ZooKeeper bool
}

// Move says what is to be moved from where to where. Its methods may be called by any process,
// again and again: all that there is to know stands in the two trees.
type Move struct {
	From, To Store
	// Jobs are the names of the jobs that move. None means all of the namespace, with its notes of
	// removed jobs and its audit.
	Jobs []string
	// By, Why and Where, the place from which it is done, are for people. They are cut after 255 bytes.
	By, Why, Where string
	// StopInstances is whether jobs move although instances run them at the source. These are
	// stopped as if the job had been removed (jobtype.ErrJobRemoved), and what they run is cut short. The
	// move waits for that, and for the session of one that is cut off to end: a handler that does not watch
	// its context may still be at work when its item begins at the target. Default false: then such jobs are refused.
	StopInstances bool
	// Progress, if not nil, is told how many nodes are written, of how many. There is one call at a
	// time.
	Progress func(done, total int)
	// OnChange, if not nil, is told of the entries in the audits of both sides, of which each run writes one.
	OnChange func(ops.Change)
}

// parallel is how many jobs are on their way, and in memory, at a time.
const parallel = 8

// Result says what has become of a move.
type Result struct {
	// Moved are the jobs that are at the target now and no more at the source, Stayed those that
	// were on their way and are back, both by name. Jobs that were not there any more are in neither.
	Moved, Stayed []string
	// Findings are those of the plan, without what was refused.
	Findings []Finding
	// SourceToken is the newest fencing token that the source has given to what moved, and
	// TargetToken is smaller than all that the target will give; 0 if that is not known. If
	// TargetToken is the smaller one, systems that refuse smaller tokens have to be reset.
	SourceToken, TargetToken int64
}

// Run moves the jobs, or goes on with that. Before anything is written, all is checked as by [Move.Plan].
// A job that fails does not keep the others from going, unless many fail; then Run ends with their errors.
// Call it again, or Abort.
//
// Errors: ErrRefused, with ErrRunning; ErrOther; ErrEmpty; ErrTakenOver; ErrDiffers; ErrSetUpAgain; those of
// reads and commits. With an error the result has what was done.
func (m Move) Run(ctx context.Context) (*Result, error) {
	p, err := m.Plan(ctx)
	if err != nil {
		return &Result{}, err
	}
	r := m.newRun()
	if err = p.err(); err == nil {
		r.total = p.weight()
		err = r.moveAll(ctx, p.names(), p.shared)
	}
	result := &Result{Findings: p.Findings, SourceToken: p.token, TargetToken: r.target.revision}
	result.Moved, _ = r.outcome()
	if err != nil {
		return result, fmt.Errorf("migrate: %w", err)
	}
	r.wrote(r.total)
	return result, nil
}

// Abort ends a migration that is half done. Jobs that are on their way go back to the source, where
// programs may run them again. Jobs that have arrived stay at the target, because they may have run
// there: move them back if that is wanted.
//
// Errors: ErrOther; ErrNone; ErrTakenOver; ErrSetUpAgain; those of reads and commits.
func (m Move) Abort(ctx context.Context) (*Result, error) {
	r, result := m.newRun(), &Result{}
	r.isAbort = true
	names, err := r.onTheirWay(ctx)
	if err == nil && len(names) == 0 {
		err = ErrNone
	}
	if err == nil {
		err = r.moveAll(ctx, names, shared{})
	}
	result.Moved, result.Stayed = r.outcome()
	if err != nil {
		return result, fmt.Errorf("migrate: abort: %w", err)
	}
	return result, nil
}

// run is one call of a method of Move.
type run struct {
	Move
	source, target *side
	id             string // of the migration, by the ids of both namespaces
	isAbort        bool
	now            time.Time
	entries        []string // ids of this run's entries in the audits

	mu          sync.Mutex
	done, total int             // nodes
	hasMoved    map[string]bool // jobs with which the run is through, and whether they are at the target
}

func (m Move) newRun() *run {
	now := clocks.Wall() // corrected by how far it certainly is from the source's
	return &run{
		Move: m, source: &side{Registry: m.From.Registry}, target: &side{Registry: m.To.Registry},
		now: now.Add(-m.From.Registry.Clock().Ahead(now)), hasMoved: map[string]bool{},
	}
}

// wrote counts nodes. What is written again counts again, up to the total.
func (r *run) wrote(nodes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = min(r.done+nodes, r.total)
	if r.Progress != nil {
		r.Progress(r.done, r.total)
	}
}

// onTheirWay returns the jobs that this migration has begun to move. Those that another one has begun to move
// away from the source are with them, unless other jobs were named: see look, which tells.
func (r *run) onTheirWay(ctx context.Context) ([]jobtree.Job, error) {
	if err := r.readLocks(ctx); err != nil {
		return nil, err
	}
	var names []jobtree.Job
	for _, s := range []*side{r.source, r.target} {
		marks, err := list(ctx, s, jobtree.Migrations)
		if err != nil {
			return nil, err
		}
		for _, n := range marks {
			d, err := jobtree.DecodeMoving(n.Value)
			if err != nil || d.Migration == r.id || s == r.source && len(r.Jobs) == 0 {
				names = append(names, jobtree.Job(coord.Base(n.Path)))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// moveAll takes the locks and does what is to be done for all jobs, again and again as long as errors may
// pass. What was sent before has no effect then, because the locks have new versions.
func (r *run) moveAll(ctx context.Context, names []jobtree.Job, s shared) error {
	backoff := sleep.Backoff{Min: firstPause, Max: lastPause}
	for pass := 1; ; pass++ {
		err := r.lockBoth(ctx)
		if err == nil {
			err = r.copyShared(ctx, s)
		}
		if err == nil {
			err = each(ctx, names, r.move)
		}
		if !isPassing(err) || pass == passes {
			return r.takenOver(ctx, err)
		}
		if !backoff.Wait(ctx) {
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
}

const (
	// passes bounds how often a run begins anew.
	passes = 10
	// firstPause and lastPause bound the wait before that.
	firstPause = 5 * time.Millisecond
	lastPause  = time.Second
)

// move does for one job what is to be done, step by step.
func (r *run) move(ctx context.Context, name jobtree.Job) error {
	for isDone := false; !isDone; {
		at, err := r.look(ctx, name)
		if err == nil {
			isDone, err = r.step(ctx, name, at[0])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isThrough notes that the run is through with a job.
func (r *run) isThrough(name jobtree.Job, hasMoved bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hasMoved[string(name)] = hasMoved
}

// outcome returns the jobs with which the run is through, by name.
func (r *run) outcome() (moved, stayed []string) {
	for _, name := range slices.Sorted(maps.Keys(r.hasMoved)) {
		if r.hasMoved[name] {
			moved = append(moved, name)
		} else {
			stayed = append(stayed, name)
		}
	}
	return moved, stayed
}

// each does something for each job, several at a time. An error does not keep it from the others, unless
// there are many, or nothing can be done any more.
func each(ctx context.Context, names []jobtree.Job, do func(context.Context, jobtree.Job) error) error {
	var (
		mu          sync.Mutex
		errs        []error
		wg          sync.WaitGroup
		slots       = make(chan struct{}, parallel)
		within, end = context.WithCancel(ctx)
	)
	defer end()
	for _, name := range names {
		slots <- struct{}{}
		if within.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			err := do(within, name)
			if err == nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if within.Err() != nil && ctx.Err() == nil {
				return // it was cut short because of another one
			}
			errs = append(errs, fmt.Errorf("job %s: %w", brief.Text(string(name)), err))
			if len(errs) == brief.MaxList || errors.Is(err, ErrTakenOver) {
				end()
			}
		})
	}
	wg.Wait()
	return errors.Join(append(errs, context.Cause(ctx))...)
}
