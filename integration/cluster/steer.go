package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Steering draws what an operator does next, from a seed: kills, pauses and their ends,
// triggers, retries, backfills, cancels, pins, and assigns. He also changes and removes jobs that are
// Typed, and creates them again.
type Steering struct {
	// Done counts what was done, by name. Refused counts what the registry, or the state of a
	// job, did not allow.
	Done    map[string]int
	Refused int

	operator *Operator
	random   *rand.Rand
	jobs     []Job
	at       []string // addresses to pin to
	requests []made
	pins     map[pinned]bool // all that there ever were, because the store may be put back
}

type made struct{ job, id string }

type pinned struct {
	job  string
	item int
}

// Reseed draws from another seed from here on.
func (s *Steering) Reseed(seed uint64) { s.random = rand.New(rand.NewPCG(seed, 12)) }

// NewSteering returns what draws actions of an operator on some jobs. Pins are to the addresses.
func NewSteering(o *Operator, seed uint64, jobs []Job, addresses []string) *Steering {
	return &Steering{Done: map[string]int{}, operator: o, random: rand.New(rand.NewPCG(seed, 12)), jobs: jobs, at: addresses, pins: map[pinned]bool{}}
}

// Act does one thing, and says what. It returns an error only if that should never happen.
func (s *Steering) Act(ctx context.Context) (what string, err error) {
	o, r := s.operator, s.random
	j := s.jobs[r.IntN(len(s.jobs))]
	item := r.IntN(j.Items)
	again := j.Failover && r.IntN(3) == 0
	kinds := 20
	if j.Typed {
		kinds = 26
	}
	switch n := r.IntN(kinds); {
	case j.Typed && n < 13 && !o.cluster.has(j.Name):
		what = "create"
		err = o.Create(ctx, j)
	case n >= 23:
		what = "remove"
		err = s.remove(ctx, j)
	case n >= 20:
		what = "update"
		j.Items += r.IntN(3)
		err = o.Update(ctx, j)
	case n < 5:
		what = "kill"
		if r.IntN(2) == 0 {
			_, err = o.Kill(ctx, j.Name, again)
			break
		}
		for range 4 { // until something runs
			if _, err = o.Kill(ctx, j.Name, again, item); !errors.Is(err, ops.ErrNotRunning) {
				break
			}
			item = r.IntN(j.Items)
		}
	case n < 7:
		what = "pause"
		err = o.Hold(ctx, j.Name, r.IntN(2) == 0)
	case n < 10:
		what = "resume"
		err = o.Release(ctx, j.Name)
	case n < 14:
		what = "trigger"
		var items []int
		for range r.IntN(3) {
			items = append(items, r.IntN(j.Items))
		}
		err = s.request(j.Name, func() (string, error) { return o.Trigger(ctx, j.Name, items...) })
	case n < 15:
		what = "retry"
		err = s.request(j.Name, func() (string, error) { return o.Retry(ctx, j.Name, item) })
	case n < 16:
		what = "backfill"
		if j.Every == 0 || slices.Max(append([]time.Duration{0}, j.Work...)) > j.Every {
			return what, nil // nothing to fill, or never an end: ticks of the schedule come first
		}
		to := time.Now().Add(-time.Hour).Truncate(j.Every)
		from := to.Add(-time.Duration(r.IntN(4)) * j.Every)
		err = s.request(j.Name, func() (string, error) { return o.Backfill(ctx, j.Name, from, to, item) })
	case n < 17:
		what = "cancel"
		if len(s.requests) > 0 {
			last := s.requests[len(s.requests)-1]
			err = o.Cancel(ctx, last.job, last.id)
		}
	case n < 18:
		what = "pin"
		s.pins[pinned{j.Name, item}] = true
		err = o.Pin(ctx, j.Name, item, s.at[r.IntN(len(s.at))], r.IntN(3) == 0)
	case n < 19:
		what = "unpin"
		err = o.Unpin(ctx, j.Name, item)
	default:
		what = "reshard"
		err = o.Reshard(ctx, j.Name)
	}
	if err != nil && isAllowed(err) {
		s.Refused++
		return what + " refused", nil
	}
	if err != nil {
		return what, fmt.Errorf("%s of %s: %w", what, j.Name, err)
	}
	s.Done[what]++
	return fmt.Sprintf("%s %s", what, j.Name), nil
}

// remove removes a job, and has the workers that join by command try to start it.
func (s *Steering) remove(ctx context.Context, j Job) error {
	if err := s.operator.Remove(ctx, j.Name); err != nil {
		return err
	}
	for _, w := range s.operator.cluster.Workers() {
		_ = w.Join(j) // it may just be killed
	}
	return nil
}

func (s *Steering) request(name string, do func() (string, error)) error {
	id, err := do()
	if err == nil {
		s.requests = append(s.requests, made{name, id})
	}
	return err
}

// isAllowed reports whether an operator may be told so: there is nothing of the kind, or the
// store is away.
func isAllowed(err error) bool {
	return isUnknown(err) || slices.ContainsFunc([]error{
		ops.ErrNoJob, ops.ErrJobExists, ops.ErrConfigChanged, ops.ErrNotRunning, ops.ErrPaused, ops.ErrNothingFailed, ops.ErrBusy, job.ErrNobodyRunsIt, job.ErrQueueFull, job.ErrNoRequest,
		coord.ErrUnavailable, coord.ErrDenied, coord.ErrNoNode, coord.ErrConflict, coord.ErrRestored, coord.ErrSessionLost,
	}, func(allowed error) bool { return errors.Is(err, allowed) })
}

// Rest creates the jobs that are Typed, unless they are there, ends all pauses and pins, and waits
// for the answers to all requests.
func (s *Steering) Rest(ctx context.Context) error {
	var errs []error
	for _, j := range s.jobs {
		if j.Typed {
			errs = append(errs, s.operator.Ensure(ctx, j))
		}
		errs = append(errs, allowed(s.operator.Release(ctx, j.Name)))
	}
	for p := range s.pins {
		errs = append(errs, allowed(s.operator.Unpin(ctx, p.job, p.item)))
	}
	return errors.Join(append(errs, s.operator.cluster.Answers(ctx))...)
}

func allowed(err error) error {
	if err != nil && isAllowed(err) {
		return nil
	}
	return err
}
