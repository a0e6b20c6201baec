package engine

import (
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// viewState is what the controller has read from the view, and the settings that follow from it.
type viewState struct {
	settings       *setup.Settings          // the effective configuration: applySettings; its modified: startSession
	differs        string                   // in what that differs from the program's: setSettings
	refused        int64                    // Modified of the configuration that this instance refuses; 0 if none: onConfigChanged, applySettings, startSession
	retryRefusedAt clocks.Moment            // when that is looked at again: onConfigChanged
	state          *jobtree.State           // the tree, as the view had it: look, deregisterByNewView
	snapshot       coord.Snapshot           // by which state is: look
	owned          []int                    // this instance's items by state, if listed: items
	listed         bool                     // look and identify clear it
	changed        <-chan struct{}          // closed when the view has something newer than snapshot: look
	clocksAt       clocks.Instant           // the last reading of both clocks: slack
	absent         map[string]clocks.Moment // see decide.World: newWorld
	leaderless     clocks.Condition         // nobody leads: newWorld
	mixed          *decide.Mixed            // what matters of JVM members; nil if nothing does: newWorld
}

// look reads the view if it has changed, and takes in the configuration that it shows. A configuration that was
// refused is tried again once in retryRefusedEvery.
func (c *controller) look() {
	if c.refused != 0 && !c.moment().Before(c.retryRefusedAt) && c.state != nil && c.state.Config != nil && c.state.Config.Modified == c.refused {
		c.onConfigChanged(*c.state.Config)
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
	if document == nil || document.Modified <= c.settings.Modified || document.Modified == c.refused {
		return
	}
	c.onConfigChanged(*document)
}

// retryRefusedEvery is the time between two attempts to take in a configuration that is refused: what it
// needs, a secret or a host's name, may be there by then.
const retryRefusedEvery = time.Minute

// onConfigChanged makes a configuration of the registry the effective one here (applySettings), or refuses
// it: then the last good one stays, and the fault says why.
func (c *controller) onConfigChanged(document coord.Node) {
	config, err := jobtype.DecodeConfig(document.Value)
	var next *setup.Settings
	if err == nil {
		next, err = c.settings.Follow(config, c.options, document.Modified)
	}
	if err != nil {
		c.refused, c.retryRefusedAt = document.Modified, c.moment().Add(retryRefusedEvery)
		c.fault(jobtype.FaultConfig, fmt.Errorf("job %s: the configuration in the registry is refused, the last good one stays in force: %w", c.job, err))
		return
	}
	c.applySettings(next)
}

// readTree brings the state up to date with a snapshot. It reports whether anything but records of items has
// changed; if not, it only marks the items that have changed.
func (c *controller) readTree(snapshot coord.Snapshot) (isFull bool) {
	if c.state == nil {
		c.state, c.full = jobtree.Read(snapshot, c.job), true
	} else {
		changes := c.state.Follow(snapshot, c.snapshot, c.job)
		isFull = changes.Others || changes.Owners && c.ownersMatter(changes.Items)
		c.full = c.full || isFull
		c.listed = c.listed && !isFull
		if !isFull {
			c.noteChangedItems(changes.Items)
			c.snapshot = snapshot
			return false
		}
	}
	c.snapshot = snapshot
	return true
}

// ownersMatter reports whether new owners of items need a full pass here: this instance leads, or one of the items
// is or was its own, or has no owner. If not, an assignment of many items costs little here.
func (c *controller) ownersMatter(items []int) bool {
	return !c.listed || c.state.Leader.Is(c.self.ID) || slices.ContainsFunc(items, func(i int) bool {
		owner := c.state.Items[i].Owner
		_, wasOwn := slices.BinarySearch(c.owned, i)
		return wasOwn || owner == nil || owner.ID == c.self.ID
	})
}

// applySettings makes settings effective here. If they switch records on or off, what was remembered of
// earlier ticks is forgotten.
func (c *controller) applySettings(next *setup.Settings) {
	before := c.settings
	if before.Rules.Monitor != next.Rules.Monitor {
		c.unmonitored.Last = c.now()
		clear(c.work.Waiting)
	}
	if before.Errors.IsFor(next.Config) {
		next.Errors = before.Errors
	} else {
		c.flusher.Retire(before.Errors)
	}
	c.setSettings(next)
	c.refused = 0
	c.fault(jobtype.FaultConfig, nil)
	if changes := setup.Changes(before.Config, next.Config); len(changes) > 0 {
		c.log.Info("configuration changed", zap.Int64("version", next.Modified), zap.Strings("fields", changes))
	}
}

// refusal is the configuration that this instance cannot follow; 0 if there is none.
func (c *controller) refusal() int64 {
	if c.refused == 0 && c.state != nil && c.schedule.CannotFollow(c.state.Schedule, c.settings) {
		return c.settings.Modified
	}
	return c.refused
}

// setSettings sets the effective settings, and nothing else.
func (c *controller) setSettings(s *setup.Settings) {
	c.settings = s
	c.differs = setup.Differing(c.given, s.Config)
	c.properties.Store(&s.Properties)
}

// slack returns how much later than usual a tick may be seen and still be on time. Timers do not notice that the
// wall clock was set: if the two clocks differ since the last pass, ticks are seen late by as long as the
// controller has slept, and that is the slack. Ticks that the clock jumped over are late all the same.
func (c *controller) slack(now clocks.Instant) time.Duration {
	before := c.clocksAt
	c.clocksAt = now
	if before.Mono.IsZero() {
		return 0
	}
	elapsed := now.Mono.Sub(before.Mono)
	const usual = 100 * time.Millisecond
	if (now.Wall.Sub(before.Wall) - elapsed).Abs() < usual {
		return 0
	}
	return max(min(elapsed, maxWait), 1) // not 0: the pass is to be a full one
}
