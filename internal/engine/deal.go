package engine

import (
	"fmt"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// dealt is how this leader has dealt the items: for which instances and configuration, and
// by which answer of the strategy.
type dealt struct {
	instances []strategy.Instance
	total     int
	modified  int64 // of the configuration
	owners    []string

	// For a strategy that changes its answer although the question is the same:
	forgiven   clocks.Moment // when all changes until now are forgiven
	isRestless bool          // it has changed its answer too often

	// Where assign stands with it:
	open  bool // items wait for their new owners
	rests bool // all have them, and nothing that the strategy is asked about has changed since

	// For a strategy that looks at loads, which change although nothing of the job does: when it
	// is asked again, and after which time once more.
	weighAt    clocks.Moment
	weighPause time.Duration
}

const (
	// changeCost is how long it takes to forgive one change of the answer.
	changeCost = time.Minute
	// maxDebt bounds the changes that are not forgiven. A strategy that reaches it is
	// restless until half of them are forgiven.
	maxDebt = 20 * changeCost
)

// allowChange reports whether a changed answer may be put in force now, and counts it if so.
// If not, it returns how long the change has to wait.
func (d *dealt) allowChange(now clocks.Moment) (bool, time.Duration) {
	debt := min(max(d.forgiven.Sub(now), 0), maxDebt)
	if debt > maxDebt-changeCost {
		d.isRestless = true
		d.forgiven = now.Add(debt)
		return false, debt - (maxDebt - changeCost)
	}
	d.forgiven = now.Add(debt + changeCost)
	return true, 0
}

// deal asks the strategy who should own each item; in a broadcast job there is nothing to ask. A strategy that changes its answer again
// and again would move the items for ever, so deal keeps the answer that is in force for a
// while, and returns it with an error.
func (c *controller) deal(w *decide.World) ([]string, error) {
	if w.Rules.Broadcast {
		c.dealt.isRestless = false
		return w.Spread(), nil
	}
	owners, err := c.answer(w)
	if err != nil || owners == nil {
		return nil, err
	}
	d := &c.dealt
	eligible := w.Eligible()
	if d.total != len(owners) || d.modified != w.Config.Modified || !slices.Equal(d.instances, eligible) {
		*d = dealt{instances: eligible, total: len(owners), modified: w.Config.Modified, owners: owners, open: d.open}
		return w.Place(owners), nil
	}
	if !slices.Equal(d.owners, owners) {
		isAllowed, left := d.allowChange(w.Moment)
		if isAllowed {
			d.owners = owners
		} else {
			c.wakeIn(left)
		}
	}
	if d.isRestless = d.isRestless && d.forgiven.Sub(w.Moment) > maxDebt/2; !d.isRestless {
		return w.Place(d.owners), nil
	}
	return w.Place(d.owners), fmt.Errorf("job %s: strategy %s gives another answer each time it is asked about the same instances", c.job, short(c.settings.Strategy))
}

// desired returns who should own each item: the answer of the strategy, with pins and bounds, or
// one item for each instance in a broadcast job.
// It returns nil if no instance may have items.
func (c *controller) desired(w *decide.World) ([]string, error) {
	if w.Rules.Broadcast {
		return w.Spread(), nil
	}
	owners, err := c.answer(w)
	return w.Place(owners), err
}

// answer asks the strategy who should own each item, and checks the answer. It returns nil
// if no instance may have items.
func (c *controller) answer(w *decide.World) ([]string, error) {
	request := w.Question()
	if len(request.Instances) == 0 {
		return nil, nil
	}
	weigh := c.weigher(w)
	owners, err := c.consult(request, weigh)
	if err != nil {
		return nil, err
	}
	if err := strategy.Check(request, owners); err != nil {
		return nil, err
	}
	if weigh != nil {
		c.noteDeal(w, owners)
	}
	return owners, nil
}
