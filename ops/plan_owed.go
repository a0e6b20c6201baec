package ops

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// isRescheduled reports whether a change is one of the schedule, as the leader records it.
func isRescheduled(before, next jobtype.Config) bool {
	before, next = before.WithDefaults(), next.WithDefaults()
	return cronsOf(before) != cronsOf(next) || before.TimeZone != next.TimeZone || !slices.Equal(before.Calendars, next.Calendars) ||
		before.Misfire != next.Misfire || before.MonitorExecution != next.MonitorExecution || before.Broadcast != next.Broadcast ||
		!before.Expiry.At.Equal(next.Expiry.At) || before.Expiry.Ticks != next.Expiry.Ticks
}

// owed says which items are late for a tick of the schedule that is about to change, and what becomes of it; ""
// if none is. See decide.World.RecordSchedule.
func (o *Ops) owed(ctx context.Context, before, next jobtype.Config, s *jobtree.State) string {
	before, next = before.WithDefaults(), next.WithDefaults()
	if s.Schedule == nil || !isRescheduled(before, next) || before.MonitorExecution != jobtype.On {
		return ""
	}
	ticks, err := o.ticks(ctx, before, s.Schedule)
	if err != nil || ticks == nil {
		return "" // which has a warning, or a fault, of its own
	}
	upTo := o.now().Add(-before.MisfireTolerance)
	if s.Schedule.IsPaused() && !s.Schedule.MakeUp && s.Schedule.Paused.Before(upTo) {
		upTo = s.Schedule.Paused
	}
	last := lastDue(ticks, s.Schedule, upTo)
	var late []int
	for i := range min(len(s.Items), before.ShardingTotalCount, next.ShardingTotalCount) {
		if fired := s.Items[i].Fired; fired != nil && !fired.Tick.IsZero() && last.After(fired.Tick) {
			late = append(late, i)
		}
	}
	if len(late) == 0 {
		return ""
	}
	isKnown := len(s.Instances) > 0 || !slices.ContainsFunc(before.Calendars, func(name string) bool { return !slices.Contains(next.Calendars, name) })
	what := "it is made up once, although the schedule changes"
	switch {
	case next.MonitorExecution != jobtype.On || before.Broadcast != next.Broadcast:
		what = "nobody makes it up when this change is in force, because the items begin anew"
	case before.Misfire != jobtype.On || next.Misfire != jobtype.On:
		what = "it is skipped, because misfire is not on before and after the change"
	case !isKnown:
		what = "it is skipped, because no process is there that knows the calendars which this change leaves out"
	}
	return fmt.Sprintf("%s late for the tick of %s: %s", areText(late), last.Format(time.RFC3339), what)
}

func areText(items []int) string {
	if len(items) == 1 {
		return itemsText(items) + " is"
	}
	return itemsText(items) + " are"
}
