package doctor

import (
	"fmt"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// checkSchedule looks at when the job is to run.
func (w *world) checkSchedule(c *collector) {
	if w.IsPaused() {
		p := w.Schedule.Pause
		s := w.about(Paused, Info, fmt.Sprintf("it is paused by %s: %s", brief.Quote(p.PausedBy), brief.Quote(p.PausedWhy)), "resume it when the reason is over", Resume)
		s.Since, s.mark = p.Paused, p.Paused.UnixMilli()
		c.add(s)
	}
	for _, name := range w.config.Calendars {
		cause := ""
		switch sheet, isThere := w.ns.calendars[name]; {
		case !isThere:
			cause = "is not there"
		case sheet.err != nil:
			cause = "cannot be read: " + brief.Error(sheet.err).Error()
		default:
			continue
		}
		s := w.about(CalendarBroken, Critical, fmt.Sprintf("its calendar %s %s: processes that know it go by what it said, others begin no tick", brief.Quote(name), cause),
			"write the calendar again", "")
		s.Command = "elasticjob calendar put " + brief.Text(name) + " --file FILE"
		s.Path = jobtree.Calendar(name)
		c.add(s)
	}
	if w.HasExpired() {
		advice := "remove the job, or move its end"
		if w.Rules.RemoveExpired {
			advice = "nothing: it goes when all that it has left is done"
		}
		c.add(w.about(Expired, Info, "it has no tick to come, because it has reached its end", advice, ""))
	}
	if w.Rules.Ticks == nil {
		return
	}
	if !w.Rules.Expires() && w.Rules.KnowsCalendars() && w.Rules.Ticks.Next(w.ns.now).IsZero() {
		why := fmt.Sprintf("its cron expression %s has no tick to come", brief.Quote(w.config.Cron))
		if len(w.config.Calendars) > 0 {
			why += ", or its calendars leave all of them out"
		}
		c.add(w.about(NoTick, Warning, why, "correct the expression; or give the job an end, or remove it", Edit))
	}
	if w.hasGo() && !w.JVMLeads() && len(w.Eligible()) > 0 && w.Rules.KnowsCalendars() && !w.IsScheduleEffective() {
		s := w.about(NotInForce, Critical, fmt.Sprintf("the schedule %s is not recorded as the one in force, so no tick of it begins", brief.Quote(w.config.Cron)),
			"look at the faults of the leader: it may have refused the configuration", "")
		s.mark = w.Config.Modified
		c.add(s)
	}
	if !w.Clock.Known {
		return
	}
	f := w.FutureTimes(&decide.Work{})
	if f.Schedule {
		s := w.about(FutureTime, Warning, "the schedule counts from a time that has not come, so no tick begins before", "set the clocks; the leader corrects it when the store's clock is known", "")
		s.Path, s.mark = w.Schedule.Path, w.Schedule.Modified
		c.add(s)
	}
	for _, i := range f.Items {
		c.addItem(i, w.Item(i).Fired.Modified, w.about(FutureTime, Warning, "the last tick of these items has not come, so none begins before", "set the clocks; the leader corrects it when the store's clock is known", ""))
	}
}
