package engine

import (
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/commit"
)

// runSteps runs the steps of a pass in their order. If a step returns an error, that is a failure of its
// name, and the later steps run all the same. The next pass runs the step again: not the step has a
// back-off, but its requests to the store (package commit). When a leader's step has changed what later
// ones decide on (blocked), those wait for the next pass, which is full.
func (c *controller) runSteps(w *decide.World) {
	c.blocked = false
	if w.IsRegistered() && c.registration < seen {
		c.registration = seen
	}
	steps := decide.Steps()
	for i := range steps {
		s := &steps[i]
		if c.departure.stage == terminated {
			break
		}
		if w.Dirty != nil && !s.Partial || s.Roles&c.role(w) == 0 {
			continue
		}
		if s.Roles == decide.Leader && c.blocked || c.seams.skips != nil && c.seams.skips(s.Name) {
			c.full = true // it has its turn in the next pass
			continue
		}
		if err := c.runStep(s, w); err != nil {
			c.commits.Delay(s.Name, err)
		}
	}
	if w.Dirty == nil {
		c.commits.EndPass()
	}
}

// runStep runs a step. One that has a Decide only commits what that returns.
func (c *controller) runStep(s *decide.Step, w *decide.World) error {
	if s.Decide == nil {
		return c.runOwnStep(s.Name, w)
	}
	d := s.Decide(w, c.work)
	if d.Wait > 0 {
		c.wakeIn(d.Wait)
	}
	if d.InParts {
		d.Changes = firstOf(d.Changes)
	}
	if c.commits.All(d.Changes) {
		c.blocked = c.blocked || d.Blocks
		if d.InParts {
			c.commits.SetStale()
		}
	}
	return d.Err
}

// runOwnStep runs a step that does more than to commit a decision.
func (c *controller) runOwnStep(step string, w *decide.World) error {
	switch step {
	case "resync":
		return c.resyncIfDue(w)
	case "look for removal":
		return c.lookForRemoval(w)
	case "restore":
		return c.restore(w)
	case "kill":
		return c.kill(w)
	case "finish":
		return c.finish(w)
	case "advance ticks":
		return c.advanceTicks(w)
	case "leave":
		return c.leave(w)
	case "register":
		return c.register(w)
	case "announce":
		return c.announce(w)
	case "remove stale self":
		return c.removeStaleSelf(w)
	case "fail over":
		return c.failOver(w)
	case "take trigger":
		return c.takeTrigger(w)
	case "claim requested":
		return c.claimRequested(w, false)
	case "fire":
		return c.fire(w)
	case "claim backfill":
		return c.claimRequested(w, true)
	case "release":
		return c.releaseClaims(w)
	case "settle":
		return c.settle(w)
	case "elect":
		return c.elect(w)
	case "abdicate":
		return c.abdicate(w)
	case "mark for failover":
		return c.markForFailover(w)
	case "adopt trigger":
		return c.adoptTrigger(w)
	case "end requests":
		return c.endRequests(w)
	case "sweep":
		if c.resync.takeSweep() {
			c.commits.All(firstOf(w.Sweep()))
		}
		return nil
	case "expire":
		return c.expire(w)
	case "request reshard":
		c.jvm.RequestReshard(w, c.commits.Commit)
		return nil
	case "assign":
		return c.assign(w)
	case "ask to stop":
		return c.askToStop(w)
	case "announce process":
		return c.announceProcess(w)
	case "diagnose":
		return c.diagnose(w)
	case "report":
		c.diagnosis.Record(w)
		return nil
	}
	panic("job: nobody does the step " + step)
}

// firstOf returns as many changes as may be under way together. A later pass commits the rest.
func firstOf(changes []decide.Change) []decide.Change {
	return changes[:min(len(changes), commit.AtOnce)]
}

// role returns the role of this instance. It is asked before each step, because a step may change it.
func (c *controller) role(w *decide.World) decide.Role {
	switch {
	case w.Config == nil && (!c.isLeaving() || c.departure.isForRemoval()):
		return decide.Unconfigured
	case c.isLeaving():
		return decide.Leaving
	case !w.IsRegistered(), c.registration == unsound: // whose nodes may show once more
		return decide.Candidate
	case w.Leads():
		return decide.Leader
	}
	return decide.Follower
}
