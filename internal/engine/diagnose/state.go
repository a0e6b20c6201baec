package diagnose

import (
	"errors"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

const (
	// stateEvery is the shortest time between two times that error handlers are told how the job stands.
	stateEvery = time.Second
	// maxStateFaults bounds the faults that they are told.
	maxStateFaults = 100
)

// tellState tells error handlers how the job stands. The first time as leader comes before this instance has
// assigned an item, so it shows the ticks that came while nobody was there.
func (d *Diagnosis) tellState(p Pass) {
	w, leads := p.World, p.World.Leads() && !p.Leaving
	if !p.Settings.Errors.WantState() || leads == d.toldLeads && w.Moment.Sub(d.toldAt) < stateEvery {
		return
	}
	d.toldLeads, d.toldAt = leads, w.Moment
	s := jobtype.JobState{JobName: string(w.Job), InstanceID: w.Self.ID, Leads: leads, Now: w.Now.In(p.Settings.Zone)}
	if leads {
		s.Faults = d.allFaults(w)
		s.Unbegun = unbegun(w)
		s.LastTick = func(by time.Time) time.Time { return lastTick(w, by) }
		s.Undone = func(tick time.Time) []int { return undone(w, tick) }
	}
	p.Settings.Errors.HandleState(s)
}

// allFaults returns the faults of this instance, and those that others show in the tree.
func (d *Diagnosis) allFaults(w *decide.World) (all []jobtype.InstanceFault) {
	for f := range d.config.Faults.Holding() {
		all = append(all, jobtype.InstanceFault{InstanceID: w.Self.ID, Fault: f})
	}
	for id, n := range w.Faults {
		if id == w.Self.ID || n.Owner == 0 {
			continue
		}
		shown, _ := jobtree.DecodeFaults(n.Value) // what cannot be read says nothing; doctor tells of it
		for _, f := range shown {
			if len(all) == maxStateFaults {
				return all
			}
			all = append(all, jobtype.InstanceFault{
				InstanceID: brief.Text(id), Fault: jobtype.Fault{Kind: kindOf(f.Kind), Err: errors.New(f.Cause), Since: f.Since},
			})
		}
	}
	return all
}

// kindOf returns the kind of faults with a name; 0 if it is not known.
func kindOf(name string) jobtype.FaultKind {
	for k := jobtype.FaultConfig; k <= jobtype.FaultCalendar; k++ {
		if k.String() == name {
			return k
		}
	}
	return 0
}

// recordsTicks reports whether the tree tells which ticks were begun and ended, and an operator wants them run.
func recordsTicks(w *decide.World) bool {
	if !w.Rules.Monitor || w.ClockStops() || w.AnyJVM() != "" {
		return false
	}
	for _, in := range w.Instances {
		if in.Owner != 0 && w.ServerEnabled(in.IP) {
			return true
		}
	}
	return false
}

// isMeantToRun reports whether somebody is to run an item.
func isMeantToRun(w *decide.World, item *jobtree.Item) bool {
	return !item.Disabled && (!w.Rules.Broadcast || item.Owner != nil)
}

// unbegun returns the first tick of those that have come and that no item has begun; zero if there is none, or an
// execution goes on.
func unbegun(w *decide.World) time.Time {
	tick := w.LastTick()
	if tick.IsZero() || w.IsPaused() || !recordsTicks(w) {
		return time.Time{}
	}
	begun, isAny := w.Schedule.Since, false
	for i := range w.Rules.Total {
		item := w.Item(i)
		if item.Disabled {
			continue
		}
		if item.Running != nil && !w.IsDead(item.Running.ID) {
			return time.Time{}
		}
		isAny = true
		if item.Fired == nil {
			continue
		}
		if !tick.After(item.Fired.Tick) {
			return time.Time{}
		}
		if item.Fired.Tick.After(begun) {
			begun = item.Fired.Tick
		}
	}
	if !isAny {
		return time.Time{}
	}
	if first := w.Ticks().Next(begun); !first.IsZero() && first.Before(tick) {
		return first
	}
	return tick
}

// lastTick returns the last tick at or before a time, as LastTick does for now.
func lastTick(w *decide.World, by time.Time) time.Time {
	if !recordsTicks(w) {
		return time.Time{}
	}
	then := *w
	then.Now = by
	return then.LastTick()
}

// undone returns the items that have not ended with success for a tick, ascending.
func undone(w *decide.World, tick time.Time) (items []int) {
	for i := range w.Rules.Total {
		if item := w.Item(i); isMeantToRun(w, &item) && !isDone(w, &item, tick) {
			items = append(items, i)
		}
	}
	return items
}

// isDone reports whether an item has ended for a tick with success, as far as its last end tells: for a later tick
// it tells nothing of this one, and an end for a request hides that of the schedule, so both count as success.
func isDone(w *decide.World, item *jobtree.Item, tick time.Time) bool {
	last := item.Completed
	switch {
	case last == nil || item.Fired == nil || item.Fired.Tick.Before(tick):
		return false
	case last.IsFor(tick) && last.Outcome() == jobtree.OutcomeOK:
		return true
	}
	d, err := last.Document()
	switch {
	case err != nil:
		return false
	case d.Tick.Equal(tick):
		return d.Outcome == jobtree.OutcomeOK
	case d.Tick.Before(tick):
		return d.Request != "" && (item.Running == nil || w.IsDead(item.Running.ID))
	}
	return true
}
