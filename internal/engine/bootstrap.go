package engine

import (
	"context"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/rest"
)

// foundation returns the commit by which this instance registers, leads and deals the items,
// if nobody else is there; nil if it has to register first. It is tried once for each
// identity: if it conflicts, somebody is there. configure are the operations that write the
// configuration, if this is the commit that does.
func (c *controller) foundation(w *decide.World, configure ...coord.Op) (*decide.Change, error) {
	if c.founded || c.view.Fault() != nil {
		return nil, nil
	}
	bootstrapper := w.Bootstrapper()
	if bootstrapper == nil {
		return nil, nil
	}
	c.founded, c.elected = true, true
	var owners []string
	// A strategy of the user's may take its time. The leader asks it, and tells if it fails.
	if _, isTheirs := c.options.Strategies[c.settings.Strategy]; !isTheirs {
		owners, _ = c.desired(bootstrapper) // if that fails there are none, and the leader says why
	}
	return w.Bootstrap(bootstrapper, owners, configure...)
}

// sessionTime is how long a start waits for a session before it writes the configuration
// without one.
const sessionTime = time.Second

// foundAtOnce writes the configuration, and with it all that makes this instance the only one
// of its job, in one commit. If that cannot be done, or fails, isDone is false: the
// configuration is then written first. revision is that of the commit.
func (c *controller) foundAtOnce(ctx context.Context, configure []coord.Op) (revision int64, isDone bool) {
	if c.session != nil {
		return 0, false // it was tried
	}
	soon, cancel := context.WithTimeout(ctx, sessionTime)
	defer cancel()
	session, err := c.reg.Session(soon)
	if err != nil {
		return 0, false
	}
	c.begin(session)
	c.state = jobtree.Read(c.view.Snapshot(), c.job) // look, in the first pass, reads it again
	w := c.world()
	change, err := c.foundation(&w, configure...)
	if err != nil || change == nil {
		return 0, false
	}
	// The context of the session keeps a late commit out of a later session.
	ctx, end := rest.Within(session.Context(), ctx)
	defer end()
	a := c.sendRegistration(ctx, *change)
	return a.revision, a.err == nil
}

// awaitFoundation waits until the view shows that this instance has founded the job, so that
// the first pass has not to look for it in the store. It waits for settleAfter at most.
func (c *controller) awaitFoundation() {
	if c.registration != asked {
		return
	}
	late := time.NewTimer(settleAfter)
	defer late.Stop()
	for {
		changed := c.view.Changed()
		shown := c.view.Snapshot()
		_, isThere := shown.Get(c.job.Instance(c.self.ID))
		_, isLive := shown.Get(c.job.Session(c.self.ID))
		if _, isSetUp := shown.Get(c.job.Config()); isThere && isLive && isSetUp {
			break
		}
		select {
		case <-changed:
			continue
		case <-c.wake:
			c.poke()
		case <-c.session.Context().Done():
		case <-late.C:
			c.stale = true
		}
		break
	}
	c.changed = nil // look reads the view
}
