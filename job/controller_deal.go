package job

import (
	"fmt"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// dealt is what this leader has dealt by a strategy, and to whom.
type dealt struct {
	instances []strategy.Instance
	total     int
	modified  int64 // of the configuration
	owners    []string

	// Of a strategy that changes its answer although nothing of the above has changed.
	forgiven   time.Time // when all changes until now are
	isRestless bool      // it has changed its answer too often
}

const (
	// changeCost is how long it takes until a change of the answer is forgiven.
	changeCost = time.Minute
	// maxDebt bounds the changes that are not forgiven yet. A strategy that reaches it is
	// restless until half of them are.
	maxDebt = 20 * changeCost
)

// allowChange reports whether one more change of the answer is put in force, and when it
// will be if not now. It counts the change.
func (d *dealt) allowChange(now time.Time) (bool, time.Duration) {
	debt := min(max(d.forgiven.Sub(now), 0), maxDebt) // a clock that was set back adds none
	if debt > maxDebt-changeCost {
		d.isRestless = true
		d.forgiven = now.Add(debt)
		return false, debt - (maxDebt - changeCost)
	}
	d.forgiven = now.Add(debt + changeCost)
	return true, 0
}

// deal asks the strategy who should own each item. A strategy that does not stick to its
// answer would move the items for ever: what it said last stays in force for a while.
func (c *controller) deal(w *decide.World) ([]string, error) {
	owners, err := c.desired(w)
	if err != nil || owners == nil {
		return nil, err
	}
	d := &c.dealt
	eligible := w.Eligible()
	if d.total != len(owners) || d.modified != w.Config.Modified || !slices.Equal(d.instances, eligible) {
		*d = dealt{instances: eligible, total: len(owners), modified: w.Config.Modified, owners: owners}
		return owners, nil
	}
	if !slices.Equal(d.owners, owners) {
		isAllowed, left := d.allowChange(w.Now)
		if isAllowed {
			d.owners = owners
		} else {
			c.wakeIn(left)
		}
	}
	if d.isRestless = d.isRestless && d.forgiven.Sub(w.Now) > maxDebt/2; !d.isRestless {
		return d.owners, nil
	}
	return d.owners, fmt.Errorf("job %s: strategy %s gives another answer each time it is asked about the same instances", c.job, short(c.settings.Strategy))
}

// desired asks the strategy who should own each item. It is nil if nobody can.
func (c *controller) desired(w *decide.World) ([]string, error) {
	request := w.Request()
	if len(request.Instances) == 0 {
		return nil, nil
	}
	owners, err := c.consult(request)
	if err != nil {
		return nil, err
	}
	if err := strategy.Check(request, owners); err != nil {
		return nil, err
	}
	return owners, nil
}
