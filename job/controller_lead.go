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
		c.dealt = dealt{}
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
	if c.commitAll(w.rewind()) {
		return nil
	}
	// What is left behind may be a lot, and nothing waits for it: items are dealt meanwhile.
	if c.commitAll(firstOf(w.clean())) {
		c.stale = true // the rest is asked for when the view shows what is gone
	}
	if c.sweeping {
		c.sweeping = false
		c.commitAll(firstOf(w.sweep()))
	}
	owners, err := c.deal(w)
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

	// Of a strategy that does not stick to its answer.
	changes int // in a row, although nothing of the above has changed
	pause   time.Duration
	until   time.Time
}

const (
	// maxChanges is how often the answer of a strategy may change while it is asked about
	// the same instances: items that ran are moved when they are idle.
	maxChanges = 20
	// lastDealPause bounds the time between two answers of one that does not stick to it.
	lastDealPause = time.Minute
)

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
	unstable := func() error {
		if d.changes <= maxChanges {
			return nil
		}
		return fmt.Errorf("job %s: strategy %s gives another answer each time it is asked about the same instances", c.job, short(c.settings.Strategy))
	}
	switch {
	case w.isDealt(owners):
		d.owners, d.changes, d.pause = owners, 0, 0
	case slices.Equal(d.owners, owners):
	case d.changes < maxChanges:
		d.changes++
		d.owners = owners
	case w.now.Before(d.until) && !d.until.After(w.now.Add(lastDealPause)):
		c.wakeIn(d.until.Sub(w.now))
	default:
		d.changes = maxChanges + 1
		d.owners = owners
		d.pause = min(max(2*d.pause, firstHold), lastDealPause)
		d.until = w.now.Add(d.pause)
	}
	return d.owners, unstable()
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
