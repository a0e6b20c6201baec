package assign

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/pool"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// Config is what an assigner is made with.
type Config struct {
	Registry coord.Registry
	Pool     pool.Job
	Shutdown context.Context     // nobody waits for an answer when it has ended
	WakeIn   func(time.Duration) // has the job make a pass after that time
	Wake     func()              // has it make one soon; may be called in any goroutine
}

// Strategy is the strategy of a configuration.
type Strategy struct {
	Name string
	strategy.Strategy
}

// Assigner asks the strategies of one job. It belongs to the goroutine of the job's loop.
type Assigner struct {
	config Config
	// Questions that were not answered in time, by the names of their strategies.
	questions map[string]*question
	assigned  assigned
}

// New returns an assigner.
func New(c Config) *Assigner { return &Assigner{config: c, questions: map[string]*question{}} }

// Desired returns who should own each item: the answer of the strategy, with pins and bounds, or one item for each
// instance in a broadcast job. It returns nil if no instance may have items. ctx is the session's.
func (a *Assigner) Desired(ctx context.Context, w *decide.World, s Strategy) ([]string, error) {
	if w.Rules.Broadcast {
		return w.Spread(), nil
	}
	owners, err := a.ask(ctx, w, s)
	return w.Place(owners), err
}

// Owners is Desired for the leader, which assigns the items. A strategy that changes its answer again and
// again would move the items for ever: while it is unstable, Owners keeps the last allowed answer, and
// returns it with an error. After ErrNotAnswered the leader asks again.
func (a *Assigner) Owners(ctx context.Context, w *decide.World, s Strategy) ([]string, error) {
	d := &a.assigned
	if w.Rules.Broadcast {
		d.isUnstable = false
		return w.Spread(), nil
	}
	owners, err := a.ask(ctx, w, s)
	if err != nil || owners == nil {
		return nil, err
	}
	eligible := w.Eligible()
	if d.total != len(owners) || d.modified != w.Config.Modified || !slices.Equal(d.instances, eligible) {
		*d = assigned{instances: eligible, total: len(owners), modified: w.Config.Modified, owners: owners, hasPending: d.hasPending}
		return w.Place(owners), nil
	}
	if !slices.Equal(d.owners, owners) {
		isAllowed, left := d.allowChange(w.Moment)
		if isAllowed {
			d.owners = owners
		} else {
			a.config.WakeIn(left)
		}
	}
	if d.isUnstable = d.isUnstable && d.debtUntil.Sub(w.Moment) > maxDebt/2; !d.isUnstable {
		return w.Place(d.owners), nil
	}
	return w.Place(d.owners), fmt.Errorf("job %s: strategy %s gives another answer each time it is asked about the same instances", w.Job, brief.Text(s.Name))
}

// ask asks the strategy who should own each item, and checks the answer. It returns nil if no
// instance may have items.
func (a *Assigner) ask(ctx context.Context, w *decide.World, s Strategy) ([]string, error) {
	request := w.Question()
	if len(request.Instances) == 0 {
		return nil, nil
	}
	fillLoads := a.loadFiller(ctx, w, s)
	owners, err := a.consult(s, request, fillLoads)
	if err != nil {
		return nil, err
	}
	if err := strategy.Check(request, owners); err != nil {
		return nil, err
	}
	if fillLoads != nil {
		a.noteMoves(w, owners)
	}
	return owners, nil
}
