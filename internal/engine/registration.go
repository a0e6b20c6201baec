package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// identity is this process as an instance of the job.
type identity struct {
	session      coord.Session           // begin
	self         decide.Self             // the id: identify; the session: begin
	registration registration            // identify, ask, fence, resolve, pass, removeNodes, deregister
	announced    jobtree.SessionDocument // what was written into sessions/{id} last: announce
	founded      bool                    // it was tried to register and to lead in one commit: found; identify
	elected      bool                    // a commit that makes it the leader was sent: bootstrap, elect; identify
}

// registration is how an identity stands in the tree.
//
//	unasked ──► asked ──► seen ──► unsound ──► (another identity)
//	            │  ▲       ▲
//	            ▼  │       │
//	          fenced ──────┴─► (another identity)
//
// An instance that leaves ends as deregistered, whatever it was before.
type registration int

const (
	// unasked: the tree can have nothing of it.
	unasked registration = iota
	// asked: a registration was sent. Its nodes may be there, or may still come.
	asked
	// fenced: a commit was sent that blocks the registration (decide.World.FenceRegistration),
	// and its outcome is unknown.
	fenced
	// seen: a snapshot has shown its nodes.
	seen
	// unsound: somebody has removed or replaced its nodes. When the handlers have returned,
	// it is given up.
	unsound
	// deregistered: the tree has nothing of it any more.
	deregistered
)

// enter makes sure that there is a session. A new session makes this process a new instance.
// An instance that was leaving when its session ended is gone: its nodes have ended with
// the session. An error means that there will be no session.
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
		c.reporter.Session(c.self.ID, coord.Lost, context.Cause(c.session.Context()))
		c.reporter.Left(context.Cause(c.session.Context()))
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

// begin begins a session. If there was one before, the store may have been put back to an
// earlier state meanwhile, so nothing that was seen before counts. Before the first one the
// view was just opened.
func (c *controller) begin(session coord.Session) {
	hadOne := c.session != nil
	c.session = session
	c.self.Session = session.ID()
	c.work.Forget()
	clear(c.troubles)
	if hadOne {
		c.settings.modified, c.refused = 0, 0
	}
	c.changed, c.state = nil, nil // look reads the whole view again, whether that has changed or not
	c.stale, c.suspicious = hadOne, false
	c.identify()
	c.showSession(session)
	c.reporter.Session(c.self.ID, coord.Connected, nil)
}

// awaitSession waits for a session, and lets others see that there is none. An error means
// that there will be none: the registry was closed, the time to drain is over, or a
// shutdown was asked for and no handler runs.
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
		c.atWork(false)
		select {
		case a := <-answers:
			c.atWork(true)
			return a.session, a.err
		case <-patience.C:
			c.atWork(true)
			c.fault(jobtype.FaultStore, fmt.Errorf("job %s: %w: there is no session", c.job, coord.ErrUnavailable))
			c.publish(nil)
		case <-c.wake:
			c.atWork(true)
			c.collect()
			c.publish(nil)
			if c.isShutdown() && c.executing() == 0 {
				cancel() // there is nothing to wait for, and nothing to tell the store
			}
		}
	}
}

// identify makes this process another instance, which is not registered yet.
func (c *controller) identify() {
	c.leaveQueue()
	c.forgetCalls()
	c.self.ID = c.seams.newID()
	c.listed = false
	c.registration = unasked
	c.founded, c.elected = false, false
	c.cancelled = since{}
}

// register brings this instance into the tree, and looks after it if it is not there any
// more. An operator who removes instances/{id} tells this instance to shut down.
//
// An id whose registration is uncertain is blocked and replaced: a late request could
// otherwise leave a ghost (decide.World.FenceRegistration).
func (c *controller) register(w *decide.World) error {
	switch c.registration {
	case unasked:
		return c.ask(w)
	case unsound:
		return c.shed(w)
	}
	return c.lookAfterRegistration(w)
}

// ask registers this instance, and founds the job if nobody else is there. If the
// registration may have happened, it is not sent again.
func (c *controller) ask(w *decide.World) error {
	change, err := c.foundation(w)
	if change == nil && err == nil {
		change, err = w.Register()
	}
	if err != nil || !c.attempt(change.Step) {
		return err
	}
	c.committed(c.sendRegistration(c.session.Context(), *change))
	return nil
}

// sendRegistration sends a commit that registers this instance, and notes whether it may have
// happened.
func (c *controller) sendRegistration(ctx context.Context, change decide.Change) answer {
	a := send(ctx, c.reg, change)
	if mayHaveHappened(a.err) {
		c.registration = asked
	}
	return a
}

// lookAfterRegistration asks the store what has become of a registration that the view does
// not show, or shows with other owners. One commit creates both nodes. So if only the
// session's node is there, somebody has removed the instance's node, unless the registration
// was fenced.
func (c *controller) lookAfterRegistration(w *decide.World) error {
	const step = "look after the registration"
	if !c.attempt(step) {
		return nil
	}
	session, instance, err := c.owners()
	if err != nil {
		c.failed(step, err)
		return nil
	}
	c.resolve(w, step, session, instance)
	return nil
}

// owners reads to which sessions the two nodes of this instance belong. The registration may
// come between the two reads: what was read before it is read again.
func (c *controller) owners() (session, instance ownership, err error) {
	if session, err = c.whose(c.job.Session(c.self.ID)); err != nil {
		return session, instance, err
	}
	instance, err = c.whose(c.job.Instance(c.self.ID))
	if err == nil && session == noNode && instance == ownNode {
		session, err = c.whose(c.job.Session(c.self.ID))
	}
	return session, instance, err
}

// ownership says to which session a node belongs.
type ownership int

const (
	noNode      ownership = iota // the node is not there
	ownNode                      // to this session
	foreignNode                  // to another session, or to none
)

// whose reads from the store to which session a node belongs.
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

// resolve goes on with a registration by what the store has of its two nodes.
func (c *controller) resolve(w *decide.World, step string, session, instance ownership) {
	switch {
	case session == ownNode && instance == ownNode: // the view is late
		if c.registration == fenced {
			c.registration = asked
		}
		c.stale = true
		c.meet(step, fmt.Errorf("the view of the job does not show this instance, which is there: %w", coord.ErrUnavailable), firstPause, lastPause, 1)
	case session == noNode && instance == noNode && c.registration != seen:
		c.fenceRegistration(w)
	case session == ownNode && instance == noNode && c.registration == fenced:
		c.giveUp(w, step)
	case session == ownNode && instance == noNode:
		c.log.Info("removed by an operator, shutting down", zap.String("instance", c.self.ID))
		c.reportCommand(Event{Command: jobtype.CommandRemoveInstance, Target: jobtype.Target{Instance: c.self.ID}})
		c.stage, c.cause = draining, ErrInstanceRemoved
		c.poke()
	default:
		// The identity is given up, because others do not see these nodes as ours.
		c.log.Warn("taking another identity: somebody else has removed or replaced this instance's nodes", zap.String("instance", c.self.ID))
		c.registration = unsound
		c.unqueue()
		c.cancelAll(ErrItemLost)
		c.poke()
	}
}

// giveUp gives up an id that is fenced, and whose instance's node is gone. Nothing but the
// session's node stays: a trigger may have come, or, by a registration that came late and was removed
// before the view has shown it, the lead. Nobody would lead as long as this session lives.
func (c *controller) giveUp(w *decide.World, step string) {
	change := w.Deregister(true)
	if c.elected && !w.Leads() {
		path := c.job.LeaderInstance()
		leader, err := get(c.session.Context(), c.reg, path)
		if err != nil {
			c.failed(step, err)
			return
		}
		if leader.Owner == c.self.Session && string(leader.Value) == c.self.ID {
			change.Ops = append(change.Ops, coord.AtVersion(path, leader.Version), coord.DeleteTree(path))
		}
	}
	if c.commit(change) {
		c.identify()
		c.poke()
	}
}

// errReplaced is why an identity is shed.
var errReplaced = errors.New("job: somebody else has removed or replaced the instance's nodes")

// shed gives up an unsound identity. Handlers return first; then its nodes go, and this
// process becomes another instance.
func (c *controller) shed(w *decide.World) error {
	if left := c.giveGrace(w.Moment); c.executing() > 0 && left > 0 {
		c.wakeIn(left)
		return nil
	}
	change := w.Deregister(false)
	change.Heals = true // so that it has a back-off: an external writer may do that to every identity
	if c.commit(change) {
		c.logUnobeyed(w)
		c.forget()
		c.reporter.Left(errReplaced)
		c.identify()
		c.stale = true
		c.poke()
	}
	return nil
}

// fenceRegistration gives up the id under which this instance has tried to register.
func (c *controller) fenceRegistration(w *decide.World) {
	change := w.FenceRegistration()
	if !c.attempt(change.Step) {
		return
	}
	a := send(c.session.Context(), c.reg, change)
	if mayHaveHappened(a.err) {
		c.registration = fenced
	}
	if c.committed(a) {
		c.identify()
		c.poke()
	}
}

// announce writes into sessions/{id} what has changed about this instance.
func (c *controller) announce(w *decide.World) error {
	change := w.Announce()
	if change == nil {
		return nil
	}
	says := w.OwnSession()
	change.Heals = c.announced == says // nothing has changed here: an external writer has written it
	if c.commit(*change) {
		c.announced = says
	}
	return nil
}

// removeStaleSelf removes what a registration of this process that came late has left.
func (c *controller) removeStaleSelf(w *decide.World) error {
	if change := w.RemoveStaleSelf(); change != nil && c.commit(*change) {
		c.log.Warn("removed another instance of this process, whose registration had come late")
	}
	return nil
}

// mayHaveHappened reports whether a commit has happened, or may have, by its error.
func mayHaveHappened(err error) bool { return err == nil || errors.Is(err, coord.ErrUnknownOutcome) }
