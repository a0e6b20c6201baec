package job

import (
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// sight is what a controller sees. look and world change it, and enter, which begins anew.
type sight struct {
	settings   *settings            // the configuration that is in force here
	refused    int64                // Modified of the last configuration that was refused; 0 if it was not
	state      *jobtree.State       // of the view
	changed    <-chan struct{}      // closed when the view has something newer than state
	looked     instant              // when world was asked last
	absent     map[string]time.Time // see decide.World
	leaderless since
}

// instant is a moment by the wall clock and by the monotonic one.
type instant struct{ wall, mono time.Time }

// look decodes the view if it has changed, and follows the configuration.
func (c *controller) look() {
	select {
	case <-c.changed:
	default:
		if c.changed != nil {
			return
		}
	}
	c.changed = c.view.Changed() // before the snapshot: nothing is missed between them
	c.state = jobtree.Reread(c.view.Snapshot(), c.job, c.state)
	document := c.state.Config
	if document == nil || document.Modified <= c.settings.modified || document.Modified == c.refused {
		return
	}
	config, err := DecodeConfig(document.Value)
	var next *settings
	if err == nil {
		next, err = c.settings.follow(config, c.options, document.Modified)
	}
	if err != nil {
		c.refused = document.Modified
		c.fault(FaultConfig, fmt.Errorf("job %s: the configuration in the registry is refused, the last good one stays in force: %w", c.job, err))
		return
	}
	c.adopt(next)
}

// adopt puts settings in force.
func (c *controller) adopt(next *settings) {
	before := c.settings
	if before.Cron != next.Cron || before.TimeZone != next.TimeZone || before.rules.Monitor != next.rules.Monitor {
		c.unmonitored.Last = c.now()
		clear(c.work.Waiting)
	}
	c.settings = next
	c.refused = 0
	c.fault(FaultConfig, nil)
	if changes := before.Config.differences(next.Config); len(changes) > 0 {
		c.log.Info("configuration changed", zap.Int64("revision", next.modified), zap.Strings("fields", changes))
	}
}

// maxSlack bounds the slack after a suspended host or a clock that was set.
const maxSlack = 30 * time.Second

// slack says how late a tick may be seen because the wall clock has not gone as timers do
// since the last look: it was set, or the host was suspended.
func (c *controller) slack(now time.Time) time.Duration {
	before, mono := c.looked, time.Now()
	c.looked = instant{wall: now, mono: mono}
	if before.mono.IsZero() {
		return 0
	}
	elapsed := mono.Sub(before.mono)
	jumped := now.Sub(before.wall) - elapsed
	const usual = 100 * time.Millisecond
	if jumped < usual && jumped > -usual {
		return 0
	}
	return min(elapsed, maxSlack) + min(max(jumped, 0), maxSlack)
}
