package diagnose

import (
	"fmt"
	"maps"
	"slices"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobconf"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// scheduleFault returns an error if the schedule has no tick to come, or if the leader has not put it in force.
func (d *Diagnosis) scheduleFault(p Pass) error {
	w, cron := p.World, brief.Text(p.Settings.Cron)
	if w.Rules.Ticks != nil && !w.Rules.Expires() && w.Rules.Ticks.Next(w.Now).IsZero() {
		if !p.Settings.Ticks.Next(w.Now).IsZero() {
			return fmt.Errorf("job %s: its calendars leave out all ticks to come of the cron expression %q", w.Job, cron)
		}
		return fmt.Errorf("job %s: the cron expression %q has no tick to come", w.Job, cron)
	}
	missing := w.Rules.Ticks != nil && w.Config != nil && !w.IsScheduleEffective() && w.IsActive() && w.Rules.KnowsCalendars()
	if !d.track(&d.unrecorded, missing, w.Moment, treePatience) {
		return nil
	}
	return fmt.Errorf("job %s: the leader has not put the schedule %q in force; it may have refused the configuration", w.Job, cron)
}

// broadcastFault returns what keeps a broadcast job from running everywhere; nil if nothing does.
func broadcastFault(w *decide.World) error {
	if !w.Rules.Broadcast {
		return nil
	}
	if n := w.EligibleCount(); n > w.Rules.Total {
		return fmt.Errorf("job %s: %d instances are to run it, and it has %d items (%s): the others run nothing", w.Job, n, w.Rules.Total, jobconf.KeyTotal)
	}
	if id := w.AnyJVM(); id != "" {
		return fmt.Errorf("job %s: the JVM member %s knows no broadcast jobs: if it leads, it assigns all items", w.Job, brief.Text(id))
	}
	if len(w.Pins) > 0 {
		return fmt.Errorf("job %s: items %s are pinned, which has no effect in a broadcast job", w.Job, brief.Items(slices.Sorted(maps.Keys(w.Pins))))
	}
	return nil
}

// expiryFault returns what keeps the job from ending for all its members; nil if nothing does.
func expiryFault(w *decide.World) error {
	if !w.Rules.Expires() || !w.Leads() {
		return nil
	}
	if id := w.AnyJVM(); id != "" {
		return fmt.Errorf("job %s: the JVM member %s knows no end of the job (%s): it runs on", w.Job, brief.Text(id), jobconf.KeyExpiresAt)
	}
	return nil
}

// implementationFault returns an error if the job was given to another implementation: this one runs on, so that
// nothing stops while its programs are replaced, but does not start again. A Runner leaves instead, at once.
func (d *Diagnosis) implementationFault(p Pass) error {
	w, own := p.World, d.config.Implementation
	is := w.Implementation
	if !d.track(&d.outdated, is != "" && is != own && !p.Leaving, w.Moment, treePatience) {
		return nil
	}
	return fmt.Errorf("job %s: %w: the registry has %s now, this is %s; it runs on, and will not start again under this name", w.Job, jobtype.ErrImplementationConflict, brief.Quote(is), brief.Quote(own))
}
