package engine

import (
	"context"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/either"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// bootstrap returns the commit by which this instance registers, leads and assigns the items, if nobody else is
// there; nil if it has to register first. It is tried once for each identity: if it conflicts, somebody is there.
// configure are the operations that write the configuration, if this commit is to write it.
func (c *controller) bootstrap(w *decide.World, configure ...coord.Op) (*decide.Change, error) {
	if c.bootstrapped || c.view.Fault() != nil {
		return nil, nil
	}
	bootstrapper := w.Bootstrapper()
	if bootstrapper == nil {
		return nil, nil
	}
	c.bootstrapped, c.elected = true, true
	var owners []string
	// A strategy of the user's may take its time. The leader asks it, and tells if it fails.
	if _, isTheirs := c.options.Strategies[c.settings.Strategy]; !isTheirs {
		owners, _ = c.desired(bootstrapper) // if that fails there are none, and the leader says why
	}
	return w.Bootstrap(bootstrapper, owners, configure...)
}

// sessionTime is how long a start waits for a session before it writes the configuration without one.
const sessionTime = time.Second

// bootstrapAtOnce writes the configuration and bootstraps the job in one commit. If that cannot be done, or fails,
// isDone is false, and the configuration has to be written first. revision is that of the commit.
func (c *controller) bootstrapAtOnce(ctx context.Context, configure []coord.Op) (revision int64, isDone bool) {
	if c.session != nil {
		return 0, false // it was tried
	}
	soon, cancel := context.WithTimeout(ctx, sessionTime)
	defer cancel()
	session, err := c.reg.Session(soon)
	if err != nil {
		return 0, false
	}
	c.startSession(session)
	c.state = jobtree.Read(c.view.Snapshot(), c.job) // look, in the first pass, reads it again
	w := c.newWorld()
	change, err := c.bootstrap(&w, configure...)
	if err != nil || change == nil {
		return 0, false
	}
	// The context of the session keeps a late commit out of a later session.
	ctx, end := either.Context(session.Context(), ctx)
	defer end()
	a := c.sendRegistration(ctx, *change)
	return a.Revision, a.Err == nil
}

// awaitBootstrap waits until the view shows that this instance has bootstrapped the job, so that
// the first pass need not look for it in the store. It waits for settleAfter at most.
func (c *controller) awaitBootstrap() {
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
			c.requestFullPass()
		case <-c.session.Context().Done():
		case <-late.C:
			c.commits.SetStale()
		}
		break
	}
	c.changed = nil // look reads the view
}
