package job

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// lead does what a leader does, or becomes one. One step commits in a pass: the next
// has to see what it did. One that can do nothing, because the tree does not let it, does
// not keep the others from their turn.
func (c *controller) lead(w *world) error {
	if !w.leads() {
		c.dealt = dealt{}
		c.fault(FaultStrategy, nil) // which is now another's
	}
	if left := w.turn() - w.leaderless; left > 0 && !w.leaderStands() && w.mayLead() {
		c.wakeIn(left)
	}
	if commit := w.elect(); commit != nil {
		c.commit(*commit)
		return nil
	}
	if commit := w.abdicate(); commit != nil {
		c.commit(*commit)
		return nil
	}
	if !w.leads() {
		return nil
	}
	if c.commitAll(w.tidy()) {
		return nil
	}
	commit, err := w.schedule()
	if err != nil {
		return err
	}
	if commit != nil && c.commit(*commit) {
		return nil
	}
	if orphans := c.confirm(w.orphans()); len(orphans) > 0 && c.commitAll(w.recover(orphans)) {
		c.tellRecovered(orphans)
		return nil
	}
	// Records may come from the future again and again, while somebody's clock is wrong and
	// he does not know it. Nothing of the rest depends on them, so it does not wait.
	c.commitAll(w.rewind())
	// What is left behind may be a lot, and nothing waits for it: items are dealt meanwhile.
	if c.commitAll(firstOf(w.clean())) {
		c.stale = true // the rest is asked for when the view shows what is gone
	}
	c.inherit(w)
	if c.sweeping {
		c.sweeping = false
		c.commitAll(firstOf(w.sweep()))
	}
	owners, err := c.deal(w)
	if errors.Is(err, errThinking) {
		return nil
	}
	c.fault(FaultStrategy, err)
	if owners != nil || err == nil {
		c.commitAll(w.assign(owners))
	}
	return nil
}

// firstOf is as many commits as are under way together: the rest has its turn later.
func firstOf(commits []commit) []commit { return commits[:min(len(commits), commitsAtOnce)] }

// dealt is what this leader has dealt by a strategy, and to whom.
type dealt struct {
	instances []strategy.Instance
	total     int
	modified  int64 // of the configuration
	owners    []string

	// Of a strategy that changes its answer although nothing of the above has changed.
	forgiven time.Time // when all changes until now are
	restless bool      // it has changed its answer too often
}

const (
	// changeCost is how long it takes until a change of the answer is forgiven.
	changeCost = time.Minute
	// maxDebt bounds the changes that are not forgiven yet. A strategy that reaches it is
	// restless until half of them are.
	maxDebt = 20 * changeCost
)

// mayChange reports whether one more change of the answer is put in force, and when it
// will be if not now.
func (d *dealt) mayChange(now time.Time) (bool, time.Duration) {
	debt := min(max(d.forgiven.Sub(now), 0), maxDebt) // a clock that was set back adds none
	if debt > maxDebt-changeCost {
		d.restless = true
		d.forgiven = now.Add(debt)
		return false, debt - (maxDebt - changeCost)
	}
	d.forgiven = now.Add(debt + changeCost)
	return true, 0
}

// deal asks the strategy who should own each item. A strategy that does not stick to its
// answer would move the items for ever: what it said last stays in force for a while.
func (c *controller) deal(w *world) ([]string, error) {
	owners, err := w.desired()
	if err != nil || owners == nil {
		return nil, err
	}
	d := &c.dealt
	available := w.available()
	if d.total != len(owners) || d.modified != w.Config.Modified || !slices.Equal(d.instances, available) {
		*d = dealt{instances: available, total: len(owners), modified: w.Config.Modified, owners: owners}
		return owners, nil
	}
	if !slices.Equal(d.owners, owners) {
		may, left := d.mayChange(w.now)
		if may {
			d.owners = owners
		} else {
			c.wakeIn(left)
		}
	}
	if d.restless = d.restless && d.forgiven.Sub(w.now) > maxDebt/2; !d.restless {
		return d.owners, nil
	}
	return d.owners, fmt.Errorf("job %s: strategy %s gives another answer each time it is asked about the same instances", c.job, short(c.settings.Strategy))
}

// confirm reads the records of orphans again from the store where the snapshot may show
// records of different commits side by side: an old record beside a new claim must not be
// taken for one that was left behind.
func (c *controller) confirm(orphans []orphan) []orphan {
	const step = "confirm"
	if !slices.ContainsFunc(orphans, orphan.torn) {
		return orphans
	}
	mayRead := c.mayTry(step)
	ctx := c.session.Context()
	keep := make([]bool, len(orphans))
	errs := make([]error, len(orphans))
	read := func(i int) {
		o := orphans[i]
		path, want := c.job.Failovering(o.item), o.state.Failovering
		if o.state.Running != nil {
			path, want = c.job.Running(o.item), o.state.Running
		}
		n, err := c.reg.Get(ctx, path)
		keep[i] = err == nil && n.Created == want.Created
		if err != nil && !errors.Is(err, coord.ErrNoNode) {
			errs[i] = err
		}
	}
	c.parallel(len(orphans), func(i int) {
		switch {
		case !orphans[i].torn():
			keep[i] = true
		case mayRead:
			read(i)
		}
	})
	var confirmed []orphan
	for i, o := range orphans {
		if keep[i] {
			confirmed = append(confirmed, o)
		}
	}
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		c.failed(step, errs[i])
	} else if mayRead && len(confirmed) < len(orphans) {
		c.stale = true
		c.meet(step, fmt.Errorf("the view of the job shows records of runs that are no more: %w", coord.ErrUnavailable), firstPause, lastPause, 1)
	} else if mayRead {
		c.troubles.over(step)
	}
	return confirmed
}

// parallel calls do for each number below n, several at a time.
func (c *controller) parallel(n int, do func(int)) {
	if c.inTurn {
		for i := range n {
			do(i)
		}
		return
	}
	together(n, do)
}
