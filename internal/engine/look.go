package engine

import (
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// sight is what a controller sees.
type sight struct {
	settings   *settings                // the configuration in force here: adopt; its modified: begin
	refused    int64                    // Modified of the configuration that this instance refuses; 0 if none: heed, adopt, begin
	reconsider clocks.Moment            // when that is looked at again: heed
	state      *jobtree.State           // the tree, as the view had it: look, deregisterAnew
	seen       coord.Snapshot           // by which state is: look
	owned      []int                    // this instance's items by state, if listed: items
	listed     bool                     // look and identify clear it
	changed    <-chan struct{}          // closed when the view has something newer than state: look
	looked     instant                  // when slack looked at both clocks last: slack
	absent     map[string]clocks.Moment // see decide.World: world
	leaderless since                    // nobody leads: world
	mixed      *decide.Mixed            // what matters of JVM members; nil if nothing does: world
}

// instant is a moment by the wall clock and by the monotonic one.
type instant struct {
	wall time.Time
	mono clocks.Moment
}

// look reads the view if it has changed, and follows the configuration in it.
func (c *controller) look() {
	if c.refused != 0 && !c.moment().Before(c.reconsider) && c.state != nil && c.state.Config != nil && c.state.Config.Modified == c.refused {
		c.heed(*c.state.Config)
	}
	select {
	case <-c.changed:
	default:
		if c.changed != nil {
			return
		}
	}
	c.changed = c.view.Changed() // taken before the snapshot, so that no change between them is missed
	if !c.readTree(c.view.Snapshot()) {
		return
	}
	document := c.state.Config
	if document == nil || document.Modified <= c.settings.modified || document.Modified == c.refused {
		return
	}
	c.heed(*document)
}

// reconsiderEvery is the time between two looks at a configuration that is refused: what it
// needs, a secret or a host's name, may be there by then.
const reconsiderEvery = time.Minute

// heed puts a configuration of the registry in force, or refuses it.
func (c *controller) heed(document coord.Node) {
	config, err := jobtype.DecodeConfig(document.Value)
	var next *settings
	if err == nil {
		next, err = c.settings.follow(config, c.options, document.Modified)
	}
	if err != nil {
		c.refused, c.reconsider = document.Modified, c.moment().Add(reconsiderEvery)
		c.fault(jobtype.FaultConfig, fmt.Errorf("job %s: the configuration in the registry is refused, the last good one stays in force: %w", c.job, err))
		return
	}
	c.adopt(next)
}

// readTree brings the state up to date with a snapshot, and notes which items have changed. It
// reports whether anything else has.
func (c *controller) readTree(snapshot coord.Snapshot) (isWhole bool) {
	if c.state == nil {
		c.state, c.whole = jobtree.Read(snapshot, c.job), true
	} else {
		changes := c.state.Follow(snapshot, c.seen, c.job)
		isWhole := changes.Others || changes.Owners && c.concerns(changes.Items)
		c.whole = c.whole || isWhole
		c.listed = c.listed && !isWhole
		if !isWhole {
			c.noticeAll(changes.Items)
			c.seen = snapshot
			return false
		}
	}
	c.seen = snapshot
	return true
}

// concerns reports whether it may matter to this instance that items have other owners. It
// does to a leader, and if items are its own or were. If not, a deal of many items costs
// little here.
func (c *controller) concerns(items []int) bool {
	return !c.listed || c.state.Leader.Is(c.self.ID) || slices.ContainsFunc(items, func(i int) bool {
		owner := c.state.Items[i].Owner
		_, wasOwn := slices.BinarySearch(c.owned, i)
		return wasOwn || owner == nil || owner.ID == c.self.ID
	})
}

// adopt puts settings in force here. Where they change whether there are records, what was remembered of
// earlier ticks is forgotten.
func (c *controller) adopt(next *settings) {
	before := c.settings
	if before.rules.Monitor != next.rules.Monitor {
		c.unmonitored.Last = c.now()
		clear(c.work.Waiting)
	}
	c.replaceReporters(next)
	c.use(next)
	c.refused = 0
	c.fault(jobtype.FaultConfig, nil)
	if changes := changesOf(before.Config, next.Config); len(changes) > 0 {
		c.log.Info("configuration changed", zap.Int64("revision", next.modified), zap.Strings("fields", changes))
	}
}

// use sets the settings that are in force here.
func (c *controller) use(s *settings) {
	c.settings = s
	c.properties.Store(&s.properties)
}

// slack returns how much later than usual a tick may be seen and still be on time. Timers do
// not notice that the wall clock was set: where the two clocks differ since the last pass, ticks are seen
// late by as long as the controller has waited. What the clock jumped over is late: no tick came
// on time there.
func (c *controller) slack(now instant) time.Duration {
	before := c.looked
	c.looked = now
	if before.mono.IsZero() {
		return 0
	}
	elapsed := now.mono.Sub(before.mono)
	const usual = 100 * time.Millisecond
	if (now.wall.Sub(before.wall) - elapsed).Abs() < usual {
		return 0
	}
	return max(min(elapsed, maxWait), 1) // not 0: the pass is to be a whole one
}
