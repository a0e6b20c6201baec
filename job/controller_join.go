package job

import (
	"context"
	"errors"
	"fmt"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
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
	c.self.session = session.ID()
	c.seen, c.suspicious = false, false
	clear(c.ended)
	c.identify()
	return false, nil
}

// identify makes this process another instance.
func (c *controller) identify() {
	c.self.id = newInstanceID(c.options.ip)
	c.asked, c.forestalled = false, false
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
//
// An id is asked for once. If it is not known what became of that, and nothing shows
// yet, it is given up for another one: it could come after the second, and outlive it.
func (c *controller) register(w *world) error {
	if c.asked {
		c.lookAfterRegistration(w)
		return nil
	}
	commit, err := w.register()
	if err != nil {
		return err
	}
	revision, err := c.reg.Commit(c.session.Context(), commit.ops...)
	c.asked = happened(err)
	c.committed(*commit, revision, err)
	return nil
}

// lookAfterRegistration looks in the store what has become of a registration that the
// view does not show. Its two nodes are made in one commit: if the session's is there,
// so was the instance's, unless it was forestalled.
func (c *controller) lookAfterRegistration(w *world) {
	session, err := get(c.session.Context(), c.reg, c.job.Session(c.self.id))
	if err != nil {
		c.failed("register", err)
		return
	}
	if session.Created == 0 {
		if !c.seen { // or the session is about to say that it has ended
			c.forestall(w)
		}
		return
	}
	instance, err := get(c.session.Context(), c.reg, c.job.Instance(c.self.id))
	switch {
	case err != nil:
		c.failed("register", err)
	case instance.Created != 0:
		c.stale, c.forestalled = true, false // the view is late
	case c.forestalled && !c.seen:
		if c.commit(w.signOff(true)) { // somebody may have triggered it meanwhile
			c.identify()
		}
		c.poke()
	default:
		c.log.Info("removed by an operator, shutting down", zap.String("instance", c.self.id))
		c.leaving = ErrInstanceRemoved
		c.poke()
	}
}

// forestall gives up the id that this instance has tried to register under.
func (c *controller) forestall(w *world) {
	commit := w.forestall()
	revision, err := c.reg.Commit(c.session.Context(), commit.ops...)
	c.forestalled = c.forestalled || happened(err)
	if c.committed(commit, revision, err) {
		c.identify()
	}
}

// happened reports whether a commit did happen, or may have.
func happened(err error) bool { return err == nil || errors.Is(err, coord.ErrUnknownOutcome) }
