package why

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/trace"
)

// causes are those of a world from three hours before noon until 50 minutes after it.
func (w world) causes(t *testing.T) []Cause {
	f := w.facts(t)
	f.at = f.now
	return f.during(f.absences(), after(-3*time.Hour), w.calendars)
}

// agree checks that an answer and the causes of the time around it say the same.
func agree(t *testing.T, w world, a Answer) {
	t.Helper()
	all := w.causes(t)
	// A calendar may have changed before its end.
	of := func(list []Cause, c Cause) *Cause {
		i := slices.IndexFunc(list, func(x Cause) bool {
			return x.Kind == c.Kind && x.By == c.By && x.Why == c.Why && x.Text == c.Text && (x.Until.Equal(c.Until) || c.Kind == Calendar)
		})
		if i < 0 {
			return nil
		}
		return &list[i]
	}
	for _, c := range a.Causes {
		switch c.Kind {
		case Paused, Calendar, Configured, NewInstances:
		case ServersDisabled, ItemDisabled, NoInstance: // also of events, and of what is not known
			if c.Since.IsZero() {
				continue
			}
		default:
			continue
		}
		if x := of(all, c); x == nil || c.Kind != Configured && c.Kind != NewInstances && !x.covers(a.Tick) {
			t.Errorf("%+v is not among %+v", c, all)
		}
	}
	isMissing := a.Verdict == Late || a.Verdict == Unknown || a.Verdict == Skipped
	for _, c := range all {
		if c.covers(a.Tick) && isMissing && (c.Kind == Paused || c.Kind == ItemDisabled) && of(a.Causes, c) == nil {
			t.Errorf("%+v is not among %+v", c, a.Causes)
		}
	}
}

// What keeps a job from running lasts until it is taken back, of each item and server by itself. Minutes are those from noon.
func TestSpans(t *testing.T) {
	const minute = time.Minute
	left, joined := jobtype.EventLeft, jobtype.EventJoined
	for name, tc := range map[string]struct {
		world
		want string
	}{
		"nothing":         {world{}, ""},
		"a pause":         {world{changes: []ops.Change{change(-20*minute, ops.ActionPause, ""), change(5*minute, ops.ActionResume, "")}}, "paused -20..5 anna"},
		"paused now":      {world{paused: ops.PauseInfo{Since: after(-minute), By: "ben"}}, "paused -1.. ben"},
		"resumed unseen":  {world{changes: []ops.Change{change(-20*minute, ops.ActionPause, "")}}, ""},
		"paused, removed": {world{changes: []ops.Change{change(-20*minute, ops.ActionPause, ""), change(5*minute, ops.ActionRemove, "")}}, "paused -20..5 anna"},
		"some of the items": {world{disabled: []int{0}, changes: []ops.Change{change(-20*minute, ops.ActionDisableItems, "items 0-1"), change(5*minute, ops.ActionEnableItems, "item 1")}},
			"item-disabled [1] -20..5 anna, item-disabled [0] -20.. anna"},
		"a server": {world{changes: []ops.Change{change(-20*minute, ops.ActionDisableServers, "servers a, b"), change(5*minute, ops.ActionEnableServers, "servers b"), change(6*minute, ops.ActionEnableServers, "servers a")}},
			"servers-disabled -20..5 anna (disabled servers: b), servers-disabled -20..6 anna (disabled servers: a)"},
		"the job": {world{changes: []ops.Change{change(-20*minute, ops.ActionDisableServers, "all servers a, b"), change(5*minute, ops.ActionEnableServers, "servers b"), change(6*minute, ops.ActionEnableServers, "all servers a")}},
			"servers-disabled -20..5 anna (all servers of the job are disabled), servers-disabled -20..6 anna (disabled servers: a)"},
		"calendars": {world{document: holidays, calendars: []*ops.Calendar{calendarOf("timeZone: UTC\nweekly: ['11:00-11:30', '12:10-13:00']\n")}, changes: []ops.Change{
			{Job: "", At: after(20 * minute), Action: ops.ActionPutCalendar, Detail: "calendar bank", Before: "timeZone: UTC\nweekly: ['10:00-11:00', '12:10-13:00']\n"},
		}}, "calendar -120..-60, calendar 10..60"},
		"instances": {world{changes: []ops.Change{change(-22*minute, ops.ActionShutdown, "")}, events: []trace.Event{
			event(-minute*60, joined, "1", ""), event(-minute*21, left, "1", ""), event(-minute*19, joined, "2", ""), event(30*minute, joined, "10.0.0.1@-@1", ""),
		}}, "no-instance -21..-19 anna, new-instances -21..-19, no-instance -19..30"},
		"one that goes on": {world{events: []trace.Event{event(-minute*60, joined, "1", ""), event(-minute*21, left, "1", ""), event(30*minute, joined, "2", "")}}, ""},
		"nobody now":       {world{isEmpty: true, events: []trace.Event{event(-minute*60, joined, "1", ""), event(-minute*21, left, "1", "")}}, "no-instance -21.."},
		"moments": {world{changes: []ops.Change{saying(change(-minute, ops.ActionUpdate, ""), "x", "y"), change(minute, ops.ActionKill, "items 0-1")}, events: []trace.Event{
			with1(event(0, jobtype.EventConfigured, "10.0.0.1@-@1", "2"), func(e *trace.Event) { e.Detail = "cron" }),
		}}, "configured -1..-1 anna, killed [0 1] 1..1 anna"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, c := range tc.causes(t) {
				text := string(c.Kind)
				if c.Items != nil {
					text += fmt.Sprint(" ", c.Items)
				}
				text += fmt.Sprintf(" %g..", c.Since.Sub(noon).Minutes())
				if !c.Until.IsZero() {
					text += fmt.Sprint(c.Until.Sub(noon).Minutes())
				}
				if c.By != "" {
					text += " " + c.By
				}
				if c.Kind == ServersDisabled {
					text += " (" + c.Text + ")"
				}
				got = append(got, text)
			}
			if got := strings.Join(got, ", "); got != tc.want {
				t.Errorf("%s; want %s", got, tc.want)
			}
		})
	}
}
