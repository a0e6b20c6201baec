package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/commit"
	"github.com/elasticjob-go/elasticjob/internal/engine/diagnose"
	"github.com/elasticjob-go/elasticjob/internal/engine/health"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// identity is this process as an instance of the job.
type identity struct {
	session      coord.Session           // startSession
	self         decide.Self             // the id: identify; the session: startSession
	registration registration            // identify, sendRegistration, fenceRegistration, resolve, pass, removeNodes, deregister
	announced    jobtree.SessionDocument // what was written into sessions/{id} last: announce
	bootstrapped bool                    // it was tried to register and to lead in one commit: bootstrap; identify
	elected      bool                    // a commit that makes it the leader was sent: bootstrap, elect; identify
	wasLost      bool                    // a session was lost, and the configuration was not seen since: enter, lookForRemoval
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
	// unsound: somebody has removed or replaced its nodes. When the handlers have returned, it is given up.
	unsound
	// deregistered: the tree has nothing of it any more.
	deregistered
)

// enter makes sure that there is a session. A new session makes this process a new instance. An instance
// that was leaving when its session ended is terminated: its nodes have gone with the session. An error
// means that there will be no session.
func (c *controller) enter() error {
	if err := c.view.Err(); err != nil {
		return fmt.Errorf("job %s: view of its tree: %w", c.job, err)
	}
	if c.session != nil && c.session.Context().Err() == nil {
		return nil
	}
	c.dropQueue()
	if c.session != nil {
		why := context.Cause(c.session.Context())
		c.log.Warn("session lost", zap.String("instance", c.self.ID), zap.Error(why))
		c.diagnosis.SessionLost(c.self.ID, why, c.moment())
		c.reporter.Session(c.self.ID, coord.Lost, why)
		c.reporter.Left(why)
		c.wasLost = true
		c.live.SetSession(nil)
		c.publish(nil)
		if c.isShutdown() || c.isLeaving() {
			c.terminate(nil)
			return nil
		}
	}
	session, err := c.awaitSession()
	switch {
	case err == nil:
		c.startSession(session)
		return nil
	case c.drainTime.Err() != nil || c.isShutdown():
		c.terminate(nil)
		return nil
	}
	return fmt.Errorf("job %s: %w", c.job, err)
}

// startSession makes this process a new instance under a session. If there was a session before, the store may
// have been restored to an earlier state meanwhile, so nothing that was seen before counts. Before the first one
// the view was just opened.
func (c *controller) startSession(session coord.Session) {
	hadOne := c.session != nil
	c.session = session
	c.self.Session = session.ID()
	c.work.Forget()
	if hadOne {
		c.settings.Modified, c.refused = 0, 0
	}
	c.changed, c.state = nil, nil // look reads the whole view again, whether that has changed or not
	c.commits.Begin(session.Context(), hadOne)
	c.identify()
	c.live.SetSession(session)
	c.reporter.Session(c.self.ID, coord.Connected, nil)
}

// awaitSession waits for a session, and lets others see that there is none. An error means that there will be
// none: the registry was closed, the time to drain is over, or a shutdown was asked for and no handler runs.
func (c *controller) awaitSession() (coord.Session, error) {
	type answer struct {
		session coord.Session
		err     error
	}
	ctx, cancel := context.WithCancel(c.drainTime)
	defer cancel()
	answers := make(chan answer, 1)
	go func() {
		s, err := c.reg.Session(ctx)
		answers <- answer{s, err}
	}()
	patience := time.NewTimer(diagnose.StorePatience)
	defer patience.Stop()
	for {
		c.live.SetWorking(false)
		select {
		case a := <-answers:
			c.live.SetWorking(true)
			return a.session, a.err
		case <-patience.C:
			c.live.SetWorking(true)
			c.fault(jobtype.FaultStore, health.NoSession(c.job))
			c.publish(nil)
		case <-c.wake:
			c.live.SetWorking(true)
			c.collect()
			c.publish(nil)
			if c.isShutdown() && c.busy == 0 {
				cancel() // there is nothing to wait for, and nothing to tell the store
			}
		}
	}
}

// identify gives this process a new id, which is not registered yet.
func (c *controller) identify() {
	c.failoverQueue.Leave()
	c.calls.Forget(jobtype.ErrItemLost)
	c.self.ID = c.seams.newID()
	c.listed = false
	c.registration = unasked
	c.bootstrapped, c.elected = false, false
	c.cancelled = clocks.Condition{}
}

// register brings this instance into the tree, and looks after it if it is not there any more. An operator
// who removes instances/{id} tells this instance to shut down.
//
// An id whose registration is uncertain is fenced and replaced: otherwise a request that arrives late
// could add an instance that nobody runs (decide.World.FenceRegistration).
func (c *controller) register(w *decide.World) error {
	switch c.registration {
	case unasked:
		return c.requestRegistration(w)
	case unsound:
		return c.replaceIdentity(w)
	}
	return c.lookAfterRegistration(w)
}

// requestRegistration sends the commit that registers this instance, and that bootstraps the job if nobody else is
// there. It is not sent again if it may have happened.
func (c *controller) requestRegistration(w *decide.World) error {
	change, err := c.bootstrap(w)
	if change == nil && err == nil {
		change = w.Register()
	}
	if err != nil || !c.commits.MayAttempt(change.Step) {
		return err
	}
	c.commits.HandleAnswer(c.sendRegistration(c.session.Context(), *change))
	return nil
}

// sendRegistration sends a commit that registers this instance, and notes whether it may have happened.
func (c *controller) sendRegistration(ctx context.Context, change decide.Change) commit.Answer {
	a := commit.Send(ctx, c.reg, change)
	if commit.MayHaveHappened(a.Err) {
		c.registration = asked
	}
	return a
}

// lookAfterRegistration asks the store what has become of a registration that the view does not show, or shows
// with other owners. One commit creates both nodes. So if only the session's node is there, somebody has removed
// the instance's node, unless the registration was fenced.
func (c *controller) lookAfterRegistration(w *decide.World) error {
	const step = "look after the registration"
	if !c.commits.MayAttempt(step) {
		return nil
	}
	session, instance, err := c.readOwnership()
	if err != nil {
		c.commits.Failed(step, err)
		return nil
	}
	c.resolve(w, step, session, instance)
	return nil
}

// readOwnership reads to which sessions the two nodes of this instance belong. The registration may arrive
// between the two reads: then the first node is read again.
func (c *controller) readOwnership() (session, instance ownership, err error) {
	if session, err = c.ownershipOf(c.job.Session(c.self.ID)); err != nil {
		return session, instance, err
	}
	instance, err = c.ownershipOf(c.job.Instance(c.self.ID))
	if err == nil && session == noNode && instance == ownNode {
		session, err = c.ownershipOf(c.job.Session(c.self.ID))
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

// ownershipOf reads from the store to which session a node belongs.
func (c *controller) ownershipOf(path string) (ownership, error) {
	n, err := get(c.session.Context(), c.reg, path)
	switch {
	case err != nil || n.Created == 0:
		return noNode, err
	case n.Owner == c.self.Session:
		return ownNode, nil
	}
	return foreignNode, nil
}

// resolve decides about a registration by what the store has of its two nodes: it is there, it is to be
// fenced, it was removed by an operator, or the identity is unsound.
func (c *controller) resolve(w *decide.World, step string, session, instance ownership) {
	switch {
	case session == ownNode && instance == ownNode: // the view is late
		if c.registration == fenced {
			c.registration = asked
		}
		c.commits.ViewIsLate(step, "does not show this instance, which is there")
	case session == noNode && instance == noNode && c.registration != seen:
		c.fenceRegistration(w)
	case session == ownNode && instance == noNode && c.registration == fenced:
		c.giveUpFencedID(w, step)
	case session == ownNode && instance == noNode:
		c.log.Info("removed by an operator, shutting down", zap.String("instance", c.self.ID))
		c.reporter.Command(c.self.ID, jobtype.Event{Command: jobtype.CommandRemoveInstance, Target: jobtype.Target{Instance: c.self.ID}})
		c.departure.drain(jobtype.ErrInstanceRemoved)
		c.requestFullPass()
	default:
		// The identity is given up, because others do not see these nodes as ours.
		c.log.Warn("taking another identity: somebody else has removed or replaced this instance's nodes", zap.String("instance", c.self.ID))
		c.registration = unsound
		c.clearQueue()
		c.cancelAll(jobtype.ErrItemLost)
		c.requestFullPass()
	}
}

// giveUpFencedID replaces an id that is fenced. Only the session's node stays. A trigger may have come for
// it; and, if the registration arrived late and was removed before the view showed it, leadership: both
// are removed, or nobody would lead as long as this session lives.
func (c *controller) giveUpFencedID(w *decide.World, step string) {
	change := w.Deregister(true)
	if c.elected && !w.Leads() {
		path := c.job.LeaderInstance()
		leader, err := get(c.session.Context(), c.reg, path)
		if err != nil {
			c.commits.Failed(step, err)
			return
		}
		if leader.Owner == c.self.Session && string(leader.Value) == c.self.ID {
			change.Ops = append(change.Ops, coord.AtVersion(path, leader.Version), coord.DeleteTree(path))
		}
	}
	if c.commits.Commit(change) {
		c.identify()
		c.requestFullPass()
	}
}

// errReplaced is why an unsound identity is given up.
var errReplaced = errors.New("job: somebody else has removed or replaced the instance's nodes")

// replaceIdentity gives up an unsound identity. Its handlers return first; then its nodes are removed, and this
// process becomes another instance.
func (c *controller) replaceIdentity(w *decide.World) error {
	if left := c.graceLeft(w.Moment); c.busy > 0 && left > 0 {
		c.wakeIn(left)
		return nil
	}
	change := w.Deregister(false)
	change.IsRepair = true // so that it has a back-off: an external writer may do that to every identity
	if c.commits.Commit(change) {
		c.reporter.LostOwnTrigger(w)
		c.dropQueue()
		c.reporter.Left(errReplaced)
		c.identify()
		c.commits.SetStale()
		c.requestFullPass()
	}
	return nil
}

// fenceRegistration fences the registration whose outcome is unknown, and replaces the id.
func (c *controller) fenceRegistration(w *decide.World) {
	change := w.FenceRegistration()
	if !c.commits.MayAttempt(change.Step) {
		return
	}
	a := commit.Send(c.session.Context(), c.reg, change)
	if commit.MayHaveHappened(a.Err) {
		c.registration = fenced
	}
	if c.commits.HandleAnswer(a) {
		c.identify()
		c.requestFullPass()
	}
}

// announce rewrites sessions/{id} if what it says about this instance has changed.
func (c *controller) announce(w *decide.World) error {
	change := w.Announce()
	if change == nil {
		return nil
	}
	says := w.OwnSession()
	change.IsRepair = c.announced == says // nothing has changed here: an external writer has written it
	if c.commits.Commit(*change) {
		c.announced = says
	}
	return nil
}

// removeStaleSelf removes what a registration of this process that came late has left.
func (c *controller) removeStaleSelf(w *decide.World) error {
	if change := w.RemoveStaleSelf(); change != nil && c.commits.Commit(*change) {
		c.log.Warn("removed another instance of this process, whose registration had come late")
	}
	return nil
}

// announceProcess has the process tell how many items its jobs have.
func (c *controller) announceProcess(w *decide.World) error {
	if c.pool.Announcement == nil {
		return nil
	}
	again, err := c.pool.Announcement.Announce(c.session, c.reg, c.pool.Items.All(), w.Moment)
	if again > 0 {
		c.wakeIn(again)
	}
	if err != nil {
		c.log.Debug("other processes are not told how many items this one has", zap.Error(brief.Error(err)))
	}
	return nil
}
