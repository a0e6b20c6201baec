package job

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
	do   func(*controller, *decide.World) error
}

// steps returns the steps of a pass, in their order. The table of package decide says for
// each when it writes what.
func steps() [27]step {
	configured := asApplicant | asMember | asLeaver
	return [...]step{
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

// pass goes through the steps. If a step returns an error, pass notes it as trouble of that
// name, and the later steps have their turn all the same. The next pass calls the step
// again: not the step has a back-off, but its requests to the store (attempt, admit). When
// a step of a leader has changed what the later ones decide on (led), those wait for the
// next pass.
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
