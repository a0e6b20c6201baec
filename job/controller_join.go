package job

import (
	"context"
	"fmt"

	"go.uber.org/zap"
)

// enter makes sure that there is a session. A new one is a new identity. gone is true
// when this instance was on its way out, and with its session has nothing left to hand
// over.
func (c *controller) enter() (gone bool, err error) {
	if err := c.view.Err(); err != nil {
		return true, fmt.Errorf("job %s: view of its tree: %w", c.job, err)
	}
	if c.session != nil && c.session.Context().Err() == nil {
		return false, nil
	}
	if c.session != nil {
		c.log.Warn("session lost", zap.String("instance", c.self.id), zap.Error(context.Cause(c.session.Context())))
	}
	c.forget()
	if c.session != nil && (c.isShutdown() || c.leaving != nil) {
		return true, c.why()
	}
	session, err := c.reg.Session(c.stopping)
	if err != nil {
		if c.stopping.Err() != nil {
			return true, c.why()
		}
		return true, fmt.Errorf("job %s: %w", c.job, err)
	}
	c.session = session
	c.self.id = newInstanceID(c.options.ip)
	c.self.session = session.ID()
	c.asked, c.seen, c.suspicious = false, false, false
	clear(c.ended)
	return false, nil
}

// forget drops what was queued under a session that has ended. What executes has had
// its context ended with the session; it stays until it returns, and keeps its item
// from starting here before that.
func (c *controller) forget() {
	for _, r := range c.queue {
		delete(c.runs, r.item)
	}
	c.queue = nil
}

// register brings this instance into the tree. Once it was there, in this session, only
// an operator can have removed it: that is how one instance is told to shut down.
func (c *controller) register(w *world) error {
	if c.asked {
		there, err := c.wasRegistered()
		if err != nil {
			c.failed("register", err)
			return nil
		}
		if there || c.seen {
			return nil // the view is late, or the session is about to say that it has ended
		}
	}
	commit, err := w.register()
	if err != nil {
		return err
	}
	c.asked = true
	c.commit(*commit)
	return nil
}

// wasRegistered looks in the store what has become of the registration. Its two nodes
// are made in one commit: if the session's is there, so was the instance's.
func (c *controller) wasRegistered() (bool, error) {
	session, err := get(c.session.Context(), c.reg, c.job.Session(c.self.id))
	if err != nil || session.Created == 0 {
		return false, err
	}
	instance, err := get(c.session.Context(), c.reg, c.job.Instance(c.self.id))
	if err != nil {
		return false, err
	}
	if instance.Created != 0 {
		c.stale = true
		return true, nil
	}
	c.log.Info("removed by an operator, shutting down", zap.String("instance", c.self.id))
	c.leaving = ErrInstanceRemoved
	c.poke()
	return true, nil
}
