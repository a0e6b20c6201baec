package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Errors that a program may want to tell apart.
var (
	// ErrRefused: something cannot go, or must not. [Plan.Refused] lists it.
	ErrRefused = errors.New("migrate: refused")
	// ErrRunning: instances run at the source. It comes with ErrRefused.
	ErrRunning = errors.New("migrate: instances run at the source")
	// ErrOther: another migration of this source, or to it, or away from this target, is half done.
	ErrOther = errors.New("migrate: another migration is half done")
	// ErrTakenOver: somebody else goes on with this migration, or has aborted it.
	ErrTakenOver = errors.New("migrate: another run goes on with this migration")
	// ErrDiffers: what stands at the target is not what should. The job has not become one there.
	ErrDiffers = errors.New("migrate: source and target differ")
	// ErrSetUpAgain: a job that has left is there again at the source. It may run on both sides.
	ErrSetUpAgain = errors.New("migrate: the job was set up again at the source")
)

// Store is one side of a move: a namespace of a store.
type Store struct {
	Registry coord.Registry
	// Name is for people: what a user of the store calls it, in up to 1,000 bytes. It stands in the
	// trees, so it must not have a password.
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
	// stopped as if the job had been removed (jobtype.ErrJobRemoved), and what they run is cut short: a
	// handler that does not watch its context may still be at work when its item begins at the
	// target. Default false: then such jobs are refused.
	StopInstances bool
	// KeepSource is whether the source keeps what it has of a job that has moved, without its
	// configuration, which is kept in ~elasticjob/migration. Nobody runs that. Default false.
	KeepSource bool
	// Progress, if not nil, is told how many nodes are written, of how many. There is one call at a
	// time.
	Progress func(done, total int)
	// OnChange, if not nil, is told of the entries in the audits of both sides: each has one when the
	// migration begins, and one when it is aborted.
	OnChange func(ops.Change)
}

const (
	// parallel is how many jobs are on their way at a time.
	parallel = 8
	// manyNodes is from how many nodes on a job goes alone: all of it is in memory.
	manyNodes = 20_000
)

// Result says what has become of a move.
type Result struct {
	// ID is that of the migration, as it stands in the trees.
	ID string
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
// A job that fails does not keep the others from going; then Run ends with their errors, and the
// marks of the migration stay: call it again, or Abort.
//
// Errors: ErrRefused, with ErrRunning; ErrOther; ErrTakenOver; ErrDiffers; ErrSetUpAgain; those of
// reads and commits. With an error the result has what was done.
func (m Move) Run(ctx context.Context) (*Result, error) {
	p, err := m.Plan(ctx)
	if err != nil {
		return &Result{}, err
	}
	if err := p.err(); err != nil {
		return &Result{ID: p.ID}, fmt.Errorf("migrate: %w", err)
	}
	r, err := m.begin(ctx, ops.ActionMigrate, p)
	if err != nil {
		return &Result{ID: p.ID}, fmt.Errorf("migrate: %w", err)
	}
	result := &Result{ID: r.id, Findings: p.Findings, SourceToken: p.token, TargetToken: r.token}
	r.bar = newBar(m.Progress, p.weight())
	if err := r.shared(ctx, p); err != nil {
		return result, fmt.Errorf("migrate: %w", err)
	}
	small, wide := p.names()
	moved, err := r.each(ctx, parallel, small, r.move)
	if err == nil {
		var more []string
		more, err = r.each(ctx, 1, wide, r.move)
		moved = append(moved, more...)
	}
	slices.Sort(moved)
	result.Moved = moved
	if err == nil {
		err = r.tell(ctx) // what has been changed meanwhile
	}
	if err == nil {
		err = r.end(ctx)
	}
	if err != nil {
		return result, fmt.Errorf("migrate: %w", err)
	}
	r.bar.end()
	return result, nil
}

// Abort ends a migration that is half done. Jobs that are on their way go back to the source, where
// programs may run them again. Jobs that have arrived stay at the target, because they may have run
// there: move them back if that is wanted.
//
// Errors: ErrOther; ErrNone; ErrTakenOver; those of reads and commits.
func (m Move) Abort(ctx context.Context) (*Result, error) {
	id, stale, err := m.find(ctx)
	if err == nil && id == "" {
		err = ErrNone
	}
	if err != nil {
		return &Result{}, fmt.Errorf("migrate: abort: %w", err)
	}
	r, err := m.begin(ctx, ops.ActionAbortMigration, &Plan{ID: id, stale: stale})
	if err != nil {
		return &Result{ID: id}, fmt.Errorf("migrate: abort: %w", err)
	}
	result := &Result{ID: id}
	names, err := r.begun(ctx)
	if err == nil {
		var mu sync.Mutex
		_, err = r.each(ctx, parallel, names, func(ctx context.Context, name jobtree.Job) (bool, error) {
			hasMoved, err := r.putBack(ctx, name)
			if err != nil {
				return false, err
			}
			mu.Lock()
			defer mu.Unlock()
			if hasMoved {
				result.Moved = append(result.Moved, string(name))
			} else {
				result.Stayed = append(result.Stayed, string(name))
			}
			return true, nil
		})
		slices.Sort(result.Moved)
		slices.Sort(result.Stayed)
	}
	if err == nil {
		err = r.end(ctx)
	}
	if err != nil {
		return result, fmt.Errorf("migrate: abort: %w", err)
	}
	return result, nil
}

// run is one call that goes on with a migration. Whatever it commits has the versions of the marks as
// conditions: so if another run takes the migration over, this one can do nothing more.
type run struct {
	Move
	id           string
	source, mark int64 // the versions of the marks of the source and of the target
	token        int64 // a revision of the target
	bar          *bar
	settler
}

// each does something for each job, so many at a time, and returns the jobs for which it reports
// true, by name. An error does not keep it from the others, unless nothing can be done any more.
func (r *run) each(ctx context.Context, most int, names []jobtree.Job, do func(context.Context, jobtree.Job) (bool, error)) (done []string, err error) {
	var (
		mu         sync.Mutex
		errs       errorList
		wg         sync.WaitGroup
		queue      = make(chan jobtree.Job)
		ctx2, stop = context.WithCancel(ctx)
	)
	defer stop()
	for range min(most, len(names)) {
		wg.Go(func() {
			for name := range queue {
				is, err := do(ctx2, name)
				mu.Lock()
				if is {
					done = append(done, string(name))
				}
				if err != nil {
					errs.add(fmt.Errorf("job %s: %w", brief.Text(string(name)), err))
				}
				mu.Unlock()
				if errors.Is(err, ErrTakenOver) {
					stop()
				}
			}
		})
	}
	for _, name := range names {
		if ctx2.Err() != nil {
			break
		}
		select {
		case queue <- name:
		case <-ctx2.Done():
		}
	}
	close(queue)
	wg.Wait()
	slices.Sort(done)
	if ctx.Err() != nil {
		errs.add(context.Cause(ctx))
	}
	return done, errs.err()
}

// errorList joins errors, and counts those that are too many to be told.
type errorList struct {
	list []error
	more int
}

func (l *errorList) add(err error) {
	if len(l.list) < brief.MaxList {
		l.list = append(l.list, err)
	} else {
		l.more++
	}
}

func (l *errorList) err() error {
	if l.more > 0 {
		return errors.Join(append(l.list, fmt.Errorf("and %d more", l.more))...)
	}
	return errors.Join(l.list...)
}

// bar tells a program how far the move has come.
type bar struct {
	mu          sync.Mutex
	tell        func(done, total int)
	done, total int
}

func newBar(tell func(done, total int), total int) *bar { return &bar{tell: tell, total: total} }

// add counts nodes; fewer than 0 if they are written again.
func (b *bar) add(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done += n
	b.show(min(b.done, b.total))
}

func (b *bar) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.show(b.total)
}

func (b *bar) show(done int) {
	if b.tell != nil {
		b.tell(done, b.total)
	}
}

// clock is the local time, corrected by how far it certainly is from the source's.
func (m Move) clock() time.Time {
	now := clocks.Wall()
	return now.Add(-m.From.Registry.Clock().Ahead(now))
}

// named are the jobs that were named, ascending, each once.
func (m Move) named() []string {
	names := slices.Clone(m.Jobs)
	slices.Sort(names)
	return slices.Compact(names)
}

// isJob reports whether a node of the namespace may be a job's. What begins with a tilde is ours.
func isJob(name string) bool { return !strings.HasPrefix(name, "~") }
