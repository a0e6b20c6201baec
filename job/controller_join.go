package job

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
)

// enter makes sure that there is a session. A new one is a new identity. gone is true
// when this instance was on its way out, and with its session has nothing left to hand
// over.
func (c *controller) enter() (gone bool, err error) {
	if err := c.view.Err(); err != nil {
		return false, fmt.Errorf("job %s: view of its tree: %w", c.job, err)
	}
	if c.session != nil && c.session.Context().Err() == nil {
		return false, nil
	}
	if c.session != nil {
		c.log.Warn("session lost", zap.String("instance", c.self.id), zap.Error(context.Cause(c.session.Context())))
		c.withdraw()
	}
	c.forget()
	if c.session != nil && (c.isShutdown() || c.leaving != nil) {
		return true, c.why()
	}
	session, err := c.awaitSession()
	if err != nil {
		if c.stopping.Err() != nil || c.isShutdown() {
			return true, c.why()
		}
		return false, fmt.Errorf("job %s: %w", c.job, err)
	}
	c.session = session
	c.self.session = session.ID()
	c.seen, c.suspicious = false, false
	clear(c.ended)
	clear(c.waiting)
	clear(c.begun)
	clear(c.troubles)
	// The store may not be the one that it was: it may have been put back to an earlier
	// state. All is looked at anew.
	c.settings.modified, c.refused = 0, 0
	c.stale = true
	c.identify()
	c.showSession(session)
	return false, nil
}

// awaitSession waits for a session, and lets others see that there is none. An error
// means that there will be none: the time to drain is over, or the registry was closed.
func (c *controller) awaitSession() (coord.Session, error) {
	type answer struct {
		session coord.Session
		err     error
	}
	ctx, cancel := context.WithCancel(c.stopping)
	defer cancel()
	answers := make(chan answer, 1)
	go func() {
		s, err := c.reg.Session(ctx)
		answers <- answer{s, err}
	}()
	patience := time.NewTimer(storePatience)
	defer patience.Stop()
	for {
		select {
		case a := <-answers:
			return a.session, a.err
		case <-patience.C:
			c.fault(FaultStore, fmt.Errorf("job %s: %w: there is no session", c.job, coord.ErrUnavailable))
			c.publish(nil)
		case <-c.wake:
			c.collect()
			c.publish(nil)
			if c.isShutdown() && c.executing == 0 {
				cancel() // there is nothing that anybody could be told
			}
		}
	}
}

// identify makes this process another instance.
func (c *controller) identify() {
	c.self.id = newInstanceID(c.options.ip)
	c.asked, c.forestalled, c.seen, c.signedOff, c.unsound = false, false, false, false, nil
	c.grace = since{}
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
	if c.unsound != nil {
		c.shed(w)
		return nil
	}
	if c.asked {
		c.lookAfterRegistration(w)
		return nil
	}
	cm, err := w.register()
	if err != nil {
		return err
	}
	if !c.mayTry(cm.step) {
		return nil
	}
	a := send(c.session.Context(), c.reg, *cm)
	c.asked = happened(a.err)
	c.committed(a)
	return nil
}

// lookAfterRegistration looks in the store what has become of a registration that the
// view does not show, or not as it was made. Its two nodes are made in one commit: if the
// session's is there, so was the instance's, unless it was forestalled.
func (c *controller) lookAfterRegistration(w *world) {
	const step = "look after the registration"
	if !c.mayTry(step) {
		return
	}
	ctx := c.session.Context()
	session, err := get(ctx, c.reg, c.job.Session(c.self.id))
	if err != nil {
		c.failed(step, err)
		return
	}
	instance, err := get(ctx, c.reg, c.job.Instance(c.self.id))
	if err != nil {
		c.failed(step, err)
		return
	}
	owned := func(n coord.Node) bool { return n.Created != 0 && n.Owner == c.self.session }
	switch {
	case session.Created == 0 && instance.Created == 0 && !c.seen:
		c.forestall(w)
	case owned(session) && owned(instance): // the view is late
		c.stale, c.forestalled = true, false
		c.meet(step, fmt.Errorf("the view of the job does not show this instance, which is there: %w", coord.ErrUnavailable), firstPause, lastPause, 1)
	case owned(session) && instance.Created == 0 && c.forestalled && !c.seen:
		if c.commit(w.signOff(true)) { // somebody may have triggered it meanwhile
			c.identify()
		}
		c.poke()
	case owned(session) && instance.Created == 0:
		c.log.Info("removed by an operator, shutting down", zap.String("instance", c.self.id))
		c.leaving = ErrInstanceRemoved
		c.poke()
	default:
		// Others take what is not this session's for nobody's, or for somebody else's.
		c.unsound = fmt.Errorf("the nodes of instance %s were removed or replaced by somebody else", c.self.id)
		c.log.Warn("taking another identity", zap.Error(c.unsound))
		c.requeue()
		c.cancelAll(ErrItemLost)
		c.poke()
	}
}

// shed leaves an identity that others cannot rely on: handlers return first, then its
// nodes go, and this process is another instance.
func (c *controller) shed(w *world) {
	if left := c.graceLeft(w.now); c.executing > 0 && left > 0 {
		c.wakeIn(left)
		return
	}
	cm := w.signOff(false)
	cm.heals = true // somebody may do that to each identity
	if c.commit(cm) {
		c.tellUnobeyed(w)
		c.forget()
		c.identify()
		c.stale = true
		c.poke()
	}
}

// forestall gives up the id that this instance has tried to register under.
func (c *controller) forestall(w *world) {
	cm := w.forestall()
	if !c.mayTry(cm.step) {
		return
	}
	a := send(c.session.Context(), c.reg, cm)
	c.forestalled = c.forestalled || happened(a.err)
	if c.committed(a) {
		c.identify()
		c.poke()
	}
}

// announce tells the leader what keeps this instance from having items.
func (c *controller) announce(w *world) error {
	cm, err := w.announce()
	if err == nil && cm != nil {
		c.commit(*cm)
	}
	return err
}

// happened reports whether a commit did happen, or may have.
func happened(err error) bool { return err == nil || errors.Is(err, coord.ErrUnknownOutcome) }
