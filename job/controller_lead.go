package job

import (
	"errors"
	"slices"

	"github.com/elasticjob-go/elasticjob/coord"
)

// lead does what a leader does, or becomes one. One step commits in a pass: the next
// has to see what it did.
func (c *controller) lead(w *world) error {
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
	commit, err := w.schedule()
	if err != nil {
		return err
	}
	if commit != nil {
		c.commit(*commit)
		return nil
	}
	if orphans := c.confirm(w.orphans()); len(orphans) > 0 {
		c.commitAll(w.recover(orphans))
		return nil
	}
	if commits := w.clean(); len(commits) > 0 {
		c.commitAll(commits)
		return nil
	}
	if c.sweeping {
		c.sweeping = false
		if commits := w.sweep(); len(commits) > 0 {
			c.commitAll(commits)
			return nil
		}
	}
	commits, err := w.assign()
	c.fault(faultStrategy, err)
	c.commitAll(commits)
	return nil
}

// confirm reads the records of orphans again from the store. A snapshot may show a
// commit in parts, and an old record beside a new claim must not be taken for one
// that was left behind.
func (c *controller) confirm(orphans []orphan) []orphan {
	return slices.DeleteFunc(orphans, func(o orphan) bool {
		path, want := c.job.Failovering(o.item), o.state.Failovering
		if o.state.Running != nil {
			path, want = c.job.Running(o.item), o.state.Running
		}
		n, err := c.reg.Get(c.session.Context(), path)
		if err != nil && !errors.Is(err, coord.ErrNoNode) {
			c.failed("recover", err)
		}
		if err != nil || n.Created != want.Created {
			c.stale = c.stale || err == nil
			return true
		}
		return false
	})
}
