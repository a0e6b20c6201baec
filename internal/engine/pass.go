package engine

import (
	"errors"

	"github.com/elasticjob-go/elasticjob/internal/decide"
)

// role is how this instance stands during a pass. It says which steps are for it.
type role int

const (
	// asUnconfigured: the snapshot has no configuration. The view is late, or the job was
	// removed.
	asUnconfigured role = 1 << iota
	// asApplicant: this instance is not in the tree.
	asApplicant
	// asFollower: it is in the tree and does not lead.
	asFollower
	// asLeader: it is in the tree and leads.
	asLeader
	// asLeaver: it is leaving.
	asLeaver

	asMember = asFollower | asLeader
	always   = asUnconfigured | asApplicant | asMember | asLeaver
)

// step is one thing that each pass looks after.
type step struct {
	name string
	who  role // the roles that the step is for
	when when
	do   func(*controller, *decide.World) error
}

// when says for which passes a step is; see attention.
type when bool

const (
	whole  when = false // only for whole passes
	narrow when = true  // for narrow ones, too: it is about items that have changed
)

// steps returns the steps of a pass, in their order. The table of package decide says for
// each when it writes what.
func steps() [38]step {
	configured := asApplicant | asMember | asLeaver
	return [...]step{
		{"reconcile", always, whole, (*controller).reconcileIfDue},
		{"look for removal", always, whole, (*controller).lookForRemoval},
		{"restore", configured, narrow, (*controller).restore},
		{"kill", asMember | asLeaver, whole, (*controller).kill},
		{"finish", configured, narrow, (*controller).finish},
		{"tend ticks", asMember | asLeaver, narrow, (*controller).tendTicks},
		{"leave", asLeaver, whole, (*controller).leave},
		{"register", asApplicant, whole, (*controller).register},
		{"announce", asMember, whole, (*controller).announce},
		{"remove stale self", asMember, whole, (*controller).removeStaleSelf},
		{"unmark", asMember, whole, (*controller).unmark},
		{"witness", asMember, whole, (*controller).witness},
		{"fail over", asMember, whole, (*controller).failOver},
		{"take trigger", asMember, whole, (*controller).takeTrigger},
		{"begin requested", asMember, whole, (*controller).beginRequested},
		{"fire", asMember, narrow, (*controller).fire},
		{"begin backfill", asMember, whole, (*controller).beginBackfill},
		{"mark misfire", asMember, narrow, (*controller).markMisfire},
		{"skip", asMember, narrow, (*controller).skip},
		{"release", asMember, narrow, (*controller).releaseClaims},
		{"settle", asMember, narrow, (*controller).settle},
		{"elect", asFollower, whole, (*controller).elect},
		{"abdicate", asLeader, whole, (*controller).abdicate},
		{"tidy", asLeader, whole, (*controller).tidy},
		{"put in force", asMember, whole, (*controller).putInForce},
		{"mark for failover", asMember, narrow, (*controller).markForFailover},
		{"rewind", asLeader, narrow, (*controller).rewind},
		{"clean", asLeader, narrow, (*controller).clean},
		{"adopt trigger", asLeader, whole, (*controller).adoptTrigger},
		{"end requests", asMember, whole, (*controller).endRequests},
		{"sweep", asLeader, whole, (*controller).sweep},
		{"expire", asLeader, whole, (*controller).expire},
		{"ask for a deal", asFollower, whole, (*controller).askForDeal},
		{"assign", asLeader, whole, (*controller).assign},
		{"ask to stop", asMember | asLeaver, whole, (*controller).askToStop},
		{"announce process", asMember, whole, (*controller).announceProcess},
		{"diagnose", always, whole, (*controller).diagnose},
		{"report", asMember | asLeaver, whole, (*controller).report},
	}
}

// pass goes through the steps. If a step returns an error, pass notes it as trouble of that
// name, and the later steps have their turn all the same. The next pass calls the step
// again: not the step has a back-off, but its requests to the store (attempt, admit). When
// a step of a leader has changed what the later ones decide on (led), those wait for the
// next pass, which is whole.
func (c *controller) pass(w *decide.World) {
	c.led = false
	if w.IsRegistered() && c.registration < seen {
		c.registration = seen
	}
	for _, s := range steps() {
		if c.stage == gone {
			break
		}
		if w.Narrow != nil && s.when == whole {
			continue
		}
		if s.who&c.role(w) == 0 {
			continue
		}
		if s.who == asLeader && c.led {
			c.whole = true
			continue
		}
		if c.seams.omits != nil && c.seams.omits(s.name) {
			c.whole = true // it has its turn in the next pass
			continue
		}
		if err := s.do(c, w); err != nil {
			c.meet(s.name, err, firstPause, lastPause, 0)
		}
	}
	if w.Narrow == nil {
		c.heals.endPass(c.troubles, c.passes, w.Moment)
		c.troubles.endPass(c.passes)
	}
}

// role returns the role of this instance. It is asked before each step, because a step may
// change it.
func (c *controller) role(w *decide.World) role {
	switch {
	case w.Config == nil && (!c.isLeaving() || errors.Is(c.cause, ErrJobRemoved)):
		return asUnconfigured
	case c.isLeaving():
		return asLeaver
	case !w.IsRegistered(), c.registration == unsound: // whose nodes may show once more
		return asApplicant
	case w.Leads():
		return asLeader
	}
	return asFollower
}
