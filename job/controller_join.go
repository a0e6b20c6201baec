package job

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// identity is this process as an instance of the job. enter and identify make it another
// one; the steps register, leave and, for handlers that must return first, shed move its
// registration on.
type identity struct {
	session      coord.Session
	self         decide.Self
	registration registration
	announced    jobtree.SessionDocument // what this process has said about itself last
	toldState    coord.SessionState      // that observers were told of; 0 if none
}

// registration is how an identity stands in the tree.
//
//	unasked ──► asked ──► seen ──► signedOff
//	            ▲   │       └──► unsound ──► (another identity)
//	            │   ▼
//	         forestalled ──► (another identity)
type registration int

const (
	// unasked: nothing of it can be in the tree.
	unasked registration = iota
	// asked: it was tried to register. It may be there, or may yet come.
	asked
	// forestalled: it is given up, or may be. See decide.World.Forestall.
	forestalled
	// seen: a snapshot has shown it.
	seen
	// unsound: its nodes were removed or replaced by somebody else. Handlers return first.
	unsound
	// signedOff: nothing of it is in the tree any more.
	signedOff
)

// enter makes sure that there is a session. A new one is a new identity. An instance that
// was on its way out has nothing left to hand over without its session, and is gone. An
// error means that there will be no session.
func (c *controller) enter() error {
	if err := c.view.Err(); err != nil {
		return fmt.Errorf("job %s: view of its tree: %w", c.job, err)
	}
	if c.session != nil && c.session.Context().Err() == nil {
		return nil
	}
	c.forget()
	if c.session != nil {
		c.log.Warn("session lost", zap.String("instance", c.self.ID), zap.Error(context.Cause(c.session.Context())))
		c.observeSession(coord.Lost, context.Cause(c.session.Context()))
		c.withdraw()
		if c.isShutdown() || c.isLeaving() {
			c.goes(nil)
			return nil
		}
	}
	session, err := c.awaitSession()
	switch {
	case err == nil:
		c.begin(session)
		return nil
	case c.stopping.Err() != nil || c.isShutdown():
		c.goes(nil)
		return nil
	}
	return fmt.Errorf("job %s: %w", c.job, err)
}

// begin begins a session. The store may not be the one that it was: it may have been put
// back to an earlier state. All is looked at anew.
func (c *controller) begin(session coord.Session) {
	c.session = session
	c.self.Session = session.ID()
	c.work.Forget()
	clear(c.troubles)
	c.settings.modified, c.refused = 0, 0
	c.stale, c.suspicious = true, false
	c.identify()
	c.showSession(session)
	c.observeSession(coord.Connected, nil)
}

// awaitSession waits for a session, and lets others see that there is none. An error means
// that there will be none: the time to drain is over, or the registry was closed.
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
			if c.isShutdown() && c.executing() == 0 {
				cancel() // there is nothing that anybody could be told
			}
		}
	}
}

// identify makes this process another instance.
func (c *controller) identify() {
	c.self.ID = c.seams.newID()
	c.registration = unasked
	c.cancelled = since{}
}

// register brings this instance into the tree. Once it was there, in this session, only an
// operator can have removed it: that is how one instance is told to shut down.
//
// An id is asked for once. If it is not known what became of that, and nothing shows yet,
// it is given up for another one: it could come after the second, and outlive it.
func (c *controller) register(w *decide.World) error {
	switch c.registration {
	case unasked:
		return c.ask(w)
	case unsound:
		return c.shed(w)
	}
	return c.lookAfterRegistration(w)
}

// ask asks for this instance's nodes.
func (c *controller) ask(w *decide.World) error {
	change, err := w.Register()
	if err != nil || !c.attempt(change.Step) {
		return err
	}
	a := send(c.session.Context(), c.reg, *change)
	if mayHaveHappened(a.err) {
		c.registration = asked
	}
	c.committed(a)
	return nil
}

// lookAfterRegistration looks in the store what has become of a registration that the view
// does not show, or not as it was made. Its two nodes are made in one commit: if the
// session's is there, so was the instance's, unless it was forestalled.
func (c *controller) lookAfterRegistration(w *decide.World) error {
	const step = "look after the registration"
	if !c.attempt(step) {
		return nil
	}
	session, err := c.whose(c.job.Session(c.self.ID))
	if err == nil {
		var instance ownership
		if instance, err = c.whose(c.job.Instance(c.self.ID)); err == nil {
			c.resolve(w, step, session, instance)
		}
	}
	if err != nil {
		c.failed(step, err)
	}
	return nil
}

// ownership is whose a node is.
type ownership int

const (
	noNode      ownership = iota // there is none
	ownNode                      // it belongs to this session
	foreignNode                  // it belongs to another session, or to none
)

func (c *controller) whose(path string) (ownership, error) {
	n, err := get(c.session.Context(), c.reg, path)
	switch {
	case err != nil || n.Created == 0:
		return noNode, err
	case n.Owner == c.self.Session:
		return ownNode, nil
	}
	return foreignNode, nil
}

// resolve decides what has become of a registration, by what the store has of it.
func (c *controller) resolve(w *decide.World, step string, session, instance ownership) {
	switch {
	case session == ownNode && instance == ownNode: // the view is late
		if c.registration == forestalled {
			c.registration = asked
		}
		c.stale = true
		c.meet(step, fmt.Errorf("the view of the job does not show this instance, which is there: %w", coord.ErrUnavailable), firstPause, lastPause, 1)
	case session == noNode && instance == noNode && c.registration != seen:
		c.forestall(w)
	case session == ownNode && instance == noNode && c.registration == forestalled:
		if c.commit(w.SignOff(true)) { // somebody may have triggered it meanwhile
			c.identify()
		}
		c.poke()
	case session == ownNode && instance == noNode:
		c.log.Info("removed by an operator, shutting down", zap.String("instance", c.self.ID))
		c.stage, c.cause = draining, ErrInstanceRemoved
		c.poke()
	default:
		// Others take what is not this session's for nobody's, or for somebody else's.
		c.log.Warn("taking another identity: somebody else has removed or replaced this instance's nodes", zap.String("instance", c.self.ID))
		c.registration = unsound
		c.unqueue()
		c.cancelAll(ErrItemLost)
		c.poke()
	}
}

// shed leaves an identity that others cannot rely on: handlers return first, then its nodes
// go, and this process is another instance.
func (c *controller) shed(w *decide.World) error {
	if left := c.giveGrace(w.Now); c.executing() > 0 && left > 0 {
		c.wakeIn(left)
		return nil
	}
	change := w.SignOff(false)
	change.Heals = true // somebody may do that to each identity
	if c.commit(change) {
		c.tellUnobeyed(w)
		c.forget()
		c.identify()
		c.stale = true
		c.poke()
	}
	return nil
}

// forestall gives up the id that this instance has tried to register under.
func (c *controller) forestall(w *decide.World) {
	change := w.Forestall()
	if !c.attempt(change.Step) {
		return
	}
	a := send(c.session.Context(), c.reg, change)
	if mayHaveHappened(a.err) {
		c.registration = forestalled
	}
	if c.committed(a) {
		c.identify()
		c.poke()
	}
}

// announce tells the others what has changed about this instance.
func (c *controller) announce(w *decide.World) error {
	change, err := w.Announce()
	if change == nil {
		return err
	}
	says := w.OwnSession()
	change.Heals = c.announced == says // somebody else has written it
	if c.commit(*change) {
		c.announced = says
	}
	return nil
}

// mayHaveHappened reports whether a commit did happen, or may have.
func mayHaveHappened(err error) bool { return err == nil || errors.Is(err, coord.ErrUnknownOutcome) }
