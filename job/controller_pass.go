package job

import (
	"errors"

	"github.com/elasticjob-go/elasticjob/internal/decide"
)

// role is how this instance stands in a pass, which says which steps are its own.
type role int

const (
	// asUnconfigured: the snapshot has no configuration. The view has to catch up, or the job
	// was removed.
	asUnconfigured role = 1 << iota
	// asApplicant: it is not in the tree.
	asApplicant
	// asFollower: it is, and does not lead.
	asFollower
	// asLeader: it leads.
	asLeader
	// asLeaver: it is on its way out.
	asLeaver

	asMember = asFollower | asLeader
	always   = asUnconfigured | asApplicant | asMember | asLeaver
)

// step is one thing that is looked after in each pass.
type step struct {
	name string
	who  role
	do   func(*controller, *decide.World) error
}

// steps are what a pass consists of, in this order. What a step decides, and when, stands
// in the table of package decide.
func steps() []step {
	configured := asApplicant | asMember | asLeaver
	return []step{
		{"reconcile", always, (*controller).reconcileIfDue},
		{"look for removal", always, (*controller).lookForRemoval},
		{"mend", configured, (*controller).mend},
		{"finish", configured, (*controller).finish},
		{"leave", asLeaver, (*controller).leave},
		{"register", asApplicant, (*controller).register},
		{"announce", asMember, (*controller).announce},
		{"take over", asMember, (*controller).takeOver},
		{"obey", asMember, (*controller).obey},
		{"begin triggered", asMember, (*controller).beginTriggered},
		{"fire", asMember, (*controller).fire},
		{"flag", asMember, (*controller).flag},
		{"pass over", asMember, (*controller).passOver},
		{"hand back", asMember, (*controller).handBack},
		{"settle", asMember, (*controller).settle},
		{"elect", asFollower, (*controller).elect},
		{"abdicate", asLeader, (*controller).abdicate},
		{"tidy", asLeader, (*controller).tidy},
		{"put in force", asLeader, (*controller).putInForce},
		{"recover", asLeader, (*controller).recover},
		{"rewind", asLeader, (*controller).rewind},
		{"clean", asLeader, (*controller).clean},
		{"inherit", asLeader, (*controller).inherit},
		{"sweep", asLeader, (*controller).sweep},
		{"assign", asLeader, (*controller).assign},
		{"diagnose", always, (*controller).diagnose},
		{"report", asMember | asLeaver, (*controller).report},
	}
}

// pass goes through the steps. One that fails does not keep the later ones from their
// turn: it has a back-off of its own.
func (c *controller) pass(w *decide.World) {
	c.led = false
	if w.IsRegistered() && c.registration < seen {
		c.registration = seen
	}
	for _, s := range steps() {
		if c.stage == gone {
			break
		}
		if s.who&c.role(w) == 0 || s.who == asLeader && c.led || c.seams.omits != nil && c.seams.omits(s.name) {
			continue
		}
		if err := s.do(c, w); err != nil {
			c.meet(s.name, err, firstPause, lastPause, 0)
		}
	}
	c.heals.endPass(c.troubles, c.passes, w.Now)
	c.troubles.endPass(c.passes)
}

// role is asked before each step: a step may change it.
func (c *controller) role(w *decide.World) role {
	switch {
	case w.Config == nil && (!c.isLeaving() || errors.Is(c.cause, ErrJobRemoved)):
		return asUnconfigured
	case c.isLeaving():
		return asLeaver
	case !w.IsRegistered():
		return asApplicant
	case w.Leads():
		return asLeader
	}
	return asFollower
}
