package decide_test

import (
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

func skips(p pass) []decide.Change { return p.Skip(p.work) }

func TestSkip(t *testing.T) {
	base := func(f *fixture) { f.members("A").deal("A", "B", "A") }
	const now = " = 2026-01-05T10:00:05.000Z"
	// The ids of instances begin with the address of their host.
	goneFrom := func(f *fixture, host string) { f.own(1, host+"@-@1-x") }
	missed := func(f *fixture) { f.now = tick(1).Add(2 * time.Second) }
	ofAll := []string{"+ sharding/0/fired" + now, "+ sharding/1/fired" + now, "+ sharding/2/fired" + now}
	ofA := []string{"+ sharding/0/fired" + now, "+ sharding/2/fired" + now}
	for _, r := range []row{
		{name: "what is due is not let go"},
		{name: "an item that is disabled", tree: func(f *fixture) { f.put("sharding/0/disabled", "") }, want: ofA[:1]},
		{name: "all servers are disabled", tree: func(f *fixture) { f.disable("A") }, want: ofA},
		{name: "another one may have the items", tree: func(f *fixture) { f.members("C").disable("A") }},
		{name: "somebody leads, and assigns them", tree: func(f *fixture) { f.put("sharding/0/disabled", "").leader("A") }, want: ofA[:1]},
		{name: "without records", rules: unrecorded, tree: func(f *fixture) { f.put("sharding/0/disabled", "") }},
		{name: "the server with the label is disabled, and one without it leads", rules: func(r *decide.Rules) { r.Label = "big" }, tree: func(f *fixture) {
			f.members("C").leader("C").disable("A")
		}, want: ofA},
		{name: "no server is disabled, and yet nobody may have items", rules: func(r *decide.Rules) { r.Label = "big" }},
		{name: "missed, and misfire is off", rules: misfireOff, tree: missed, want: ofA},
		{name: "missed, in a pause", rules: misfireOff, tree: func(f *fixture) { missed(f); f.pause(f.now) }, want: ofA},
		{name: "missed, in a pause whose ticks are made up", rules: misfireOff, tree: func(f *fixture) {
			missed(f)
			d := jobtree.Read(f.store.Snapshot(), f.job).Schedule.ScheduleDocument
			d.Paused, d.MakeUp = f.now, true
			value, err := jobtree.EncodeSchedule(d)
			if err != nil {
				f.Fatal(err)
			}
			f.put("schedule", string(value))
		}},
		{name: "missed, and it waits for a thread", rules: misfireOff, tree: func(f *fixture) { missed(f); f.work.Waiting[0] = tick(1) }, want: ofA[1:]},
		{name: "missed, and another one gets the items", rules: misfireOff, tree: func(f *fixture) { missed(f); f.members("C").disable("A") }},
		{name: "it runs", tree: func(f *fixture) { f.claim("A", 0, tick(0)); f.put("sharding/0/disabled", "") }},
		{name: "it runs here, which does not show yet", tree: func(f *fixture) { f.work.Runs[0] = &decide.Run{}; f.put("sharding/0/disabled", "") }},
		{name: "on the way out", tree: func(f *fixture) { f.put("sharding/0/disabled", ""); f.leaving = true }},
		{name: "not registered", tree: func(f *fixture) { f.put("sharding/0/disabled", "").remove("instances/A") }},
		{name: "items that have no owner, as after a migration", tree: func(f *fixture) { f.disable("A").remove("sharding/0/instance", "sharding/1/instance") }, want: ofAll},
		{name: "items that have no owner, and another one is there, who is the first to speak for them", tree: func(f *fixture) {
			f.members("C").disable("A", "C").remove("sharding/0/instance")
		}, want: ofA[1:]},
		{name: "items that have no owner, and others are not disabled", tree: func(f *fixture) {
			f.members("C").disable("A").remove("sharding/0/instance")
		}},
		{name: "an item that has no owner in a broadcast job, as most have", rules: func(r *decide.Rules) { r.Broadcast = true }, tree: func(f *fixture) {
			f.disable("A").remove("sharding/0/instance")
		}, want: ofA[1:]},
		{name: "an owner that is gone, and the first that is there leads without the label", rules: func(r *decide.Rules) { r.Label = "big" }, tree: func(f *fixture) {
			goneFrom(f, "host-B")
			f.members("C").leader("C").disable("A", "B")
		}, want: ofAll},
		{name: "an owner that is gone, whose server was disabled", tree: func(f *fixture) {
			goneFrom(f, "host-B")
			f.disable("A", "B")
		}, want: ofAll},
		{name: "an owner that is gone, whose server was not disabled", tree: func(f *fixture) {
			goneFrom(f, "host-B")
			f.disable("A")
		}, want: ofA},
		{name: "an owner that is gone, whose server was disabled, and others are not", tree: func(f *fixture) {
			goneFrom(f, "host-B")
			f.disable("B")
		}},
		{name: "an owner that is on its way out, whose server was disabled", tree: func(f *fixture) {
			goneFrom(f, "host-B")
			f.disable("A", "B").create("Z", "sessions/host-B@-@1-x", "")
		}, want: ofA},
		{name: "an owner that is there does so itself", tree: func(f *fixture) { f.members("B").disable("A", "B") }, want: ofA},
		{name: "of an owner that is gone, a tick that was begun", tree: func(f *fixture) {
			goneFrom(f, "host-B")
			f.disable("A", "B").fired(1, tick(1))
		}, want: ofA},
		{name: "an owner that is gone, and another one is there, who is the first to speak for it", tree: func(f *fixture) {
			goneFrom(f, "host-B")
			f.members("C").disable("A", "B", "C")
		}, want: ofA},
		{name: "an owner that is gone, and one is there that no session owns, who speaks for nobody", tree: func(f *fixture) {
			goneFrom(f, "host-B")
			f.put("instances/C", "").disable("A", "B", "C")
		}, want: ofAll},
	} {
		r.run(t, base, skips)
	}
}

// A tick is only skipped while what speaks for that still holds.
func TestSkipMeanwhile(t *testing.T) {
	with := func(rules func(*decide.Rules), then func(*fixture)) func(*fixture) {
		return func(f *fixture) { f.configure(rules); f.members("A").deal("A", "B"); then(f) }
	}
	none := func(*decide.Rules) {}
	big := func(r *decide.Rules) { r.Label = "big" }
	enabled := func(f *fixture) { f.put("servers/host-A", "") }
	for _, r := range []struct {
		base      func(*fixture)
		conflicts []conflict
	}{
		{with(none, func(f *fixture) { f.put("sharding/0/disabled", "") }), []conflict{
			{"a disabled item: it is enabled", func(f *fixture) { f.remove("sharding/0/disabled") }},
			{"a disabled item: another one has it", func(f *fixture) { f.own(0, "B") }},
			{"a disabled item: somebody was faster", func(f *fixture) { f.fired(0, tick(1)) }},
			{"a disabled item: the session ends", func(f *fixture) { f.crash("A") }},
		}},
		{with(misfireOff, func(f *fixture) { f.now = tick(1).Add(2 * time.Second) }), []conflict{
			{"missed: the configuration changes", func(f *fixture) { f.reconfigure() }},
			{"missed: the session ends", func(f *fixture) { f.crash("A") }},
		}},
		{with(none, func(f *fixture) { f.disable("A") }), []conflict{
			{"all servers are disabled: one was enabled, and leads", func(f *fixture) { enabled(f); f.leader("A") }},
			{"all servers are disabled: another one leads", func(f *fixture) { f.members("C").leader("C") }},
			{"all servers are disabled: the session ends", func(f *fixture) { f.crash("A") }},
		}},
		{with(big, func(f *fixture) { f.members("C").leader("C").disable("A") }), []conflict{
			{"one without the label leads: the server is enabled", enabled},
			{"one without the label leads: an item gets another owner", func(f *fixture) { f.own(0, "B") }},
			{"one without the label leads: the session ends", func(f *fixture) { f.crash("A") }},
		}},
	} {
		for _, c := range r.conflicts {
			c.run(t, r.base, skips)
		}
	}
}

// TestSkipForOneThatIsGone: of those who are there, exactly one skips the ticks of
// an instance that is gone.
func TestSkipForOneThatIsGone(t *testing.T) {
	for _, ids := range [][]string{{"A"}, {"A", "C"}, {"C", "D"}, {"A", "C", "D", "E"}} {
		f := given(t).members(ids...).disable(ids...).disable("B").own(0, "host-B@-@1-x").fired(0, begin)
		var who []string
		for _, id := range ids {
			if len(skips(f.pass(id))) > 0 {
				who = append(who, id)
			}
		}
		if len(who) != 1 {
			t.Errorf("of %v %v do", ids, who)
		}
	}
}
