package decide_test

import (
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
)

// minutely has a tick at each minute, so that none comes while a test is about one of them.
func minutely(r *decide.Rules) { r.Cron = "0 * * * * ?" }

// What a process sees of JVM members, and since when. Times are in seconds after the first tick.
func TestMix(t *testing.T) {
	necessary := func(f *fixture) { f.put("leader/sharding/necessary", "") }
	processing := func(f *fixture) { f.put("leader/sharding/processing", "") }
	isOver := func(f *fixture) { f.remove("leader/sharding") }
	there := func(f *fixture) { f.jvms(jvm) }
	shown := func(second float64) time.Time { return tick(1).Add(time.Duration(second * float64(time.Second))) }
	at := func(second float64) clocks.Moment { return momentOf(shown(second)) }
	out := func(second float64) map[string]clocks.Moment { return map[string]clocks.Moment{jvm: at(second)} }
	type moment struct {
		at       float64
		happened func(*fixture)
		want     *decide.Mixed
	}
	for name, moments := range map[string][]moment{
		"none is there":                         {{0, func(*fixture) {}, nil}},
		"none is there, and items are assigned": {{0, necessary, nil}},
		"one is there":                          {{0, there, &decide.Mixed{HasJVM: true}}},
		"one is there whose server is disabled": {{0, func(f *fixture) { there(f); f.disable(jvm) }, &decide.Mixed{HasJVM: true}}},
		"it has gone": {
			{0, there, &decide.Mixed{HasJVM: true}},
			{1, func(f *fixture) { f.crash(jvm) }, nil},
		},
		"items are to be assigned, and assigned, and are to be assigned": {
			{0, there, &decide.Mixed{HasJVM: true}},
			{1, necessary, &decide.Mixed{HasJVM: true, MarkedSince: at(1)}},
			{2, processing, &decide.Mixed{HasJVM: true, MarkedSince: at(1), ProcessingSince: at(2)}},
			{3, func(*fixture) {}, &decide.Mixed{HasJVM: true, MarkedSince: at(1), ProcessingSince: at(2)}},
			{4, func(f *fixture) { f.remove("leader/sharding/processing") }, &decide.Mixed{HasJVM: true, MarkedSince: at(1)}},
			{5, isOver, &decide.Mixed{HasJVM: true, MarkedSince: at(1), UnmarkedSince: at(5)}},
			{6, func(*fixture) {}, &decide.Mixed{HasJVM: true, MarkedSince: at(1), UnmarkedSince: at(5)}},
			{7, processing, &decide.Mixed{HasJVM: true, MarkedSince: at(7), ProcessingSince: at(7)}},
		},
		"a leader of ours holds them": {
			{0, there, &decide.Mixed{HasJVM: true}},
			{1, func(f *fixture) { f.holds() }, &decide.Mixed{HasJVM: true, MarkedSince: at(1)}},
		},
		"one that assigned has gone, and its mark stays": {
			{0, func(f *fixture) { there(f); processing(f) }, &decide.Mixed{HasJVM: true, MarkedSince: at(0), ProcessingSince: at(0)}},
			{1, func(f *fixture) { f.crash(jvm) }, &decide.Mixed{MarkedSince: at(0), ProcessingSince: at(0)}},
			{2, isOver, nil},
		},
		"an owner has gone, and comes back": {
			{0, func(f *fixture) { there(f); f.own(0, jvm).own(1, jvm) }, &decide.Mixed{HasJVM: true}},
			{1, func(f *fixture) { f.remove("instances/" + jvm) }, &decide.Mixed{OutSince: out(1)}},
			{2, func(*fixture) {}, &decide.Mixed{OutSince: out(1)}},
			{3, there, &decide.Mixed{HasJVM: true}},
			{4, func(f *fixture) { f.remove("instances/" + jvm) }, &decide.Mixed{OutSince: out(4)}},
			{5, func(f *fixture) { f.own(0, "A").own(1, "A") }, nil},
		},
		"an owner's server is disabled, and it goes": {
			{0, func(f *fixture) { there(f); f.own(0, jvm) }, &decide.Mixed{HasJVM: true}},
			{1, func(f *fixture) { f.disable(jvm) }, &decide.Mixed{HasJVM: true, OutSince: out(1)}},
			{2, func(f *fixture) { f.crash(jvm) }, &decide.Mixed{OutSince: out(1)}},
		},
		"an owner whose node is a stranger's": {
			{0, func(f *fixture) { f.own(0, jvm).put("instances/"+jvm, "") }, &decide.Mixed{OutSince: out(0)}},
		},
		"an owner of ours has gone":               {{0, func(f *fixture) { f.own(0, "B@-@1-2") }, nil}},
		"an owner of ours that is disabled":       {{0, func(f *fixture) { f.members("B").own(0, "B").disable("B") }, nil}},
		"one of ours whose session shows later":   {{0, func(f *fixture) { f.create("B", "instances/B@-@1-2", "") }, nil}},
		"one of ours whose instance shows later":  {{0, func(f *fixture) { f.create("B", "sessions/B@-@1-2", "") }, nil}},
		"a node that only looks like one of ours": {{0, func(f *fixture) { f.create("B", "instances/B@-@-2", "") }, &decide.Mixed{HasJVM: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			f := given(t)
			for _, m := range moments {
				m.happened(f)
				f.now = shown(m.at)
				if diff := gocmp.Diff(m.want, f.pass("A").Mixed, cmpopts.IgnoreFields(decide.Mixed{}, "OwnersSince", "OwnersCommit")); diff != "" {
					t.Errorf("after %vs (-want +got):\n%s", m.at, diff)
				}
			}
		})
	}
}

// A process remembers since when what JVM members read from their caches is as it is.
func TestStill(t *testing.T) {
	f := given(t).members("A").jvms(jvm).own(0, "A")
	for second, m := range []struct {
		name     string
		happened func(*fixture)
		want     int // since which second
	}{
		{"at first", func(*fixture) {}, 0},
		{"nothing", func(*fixture) {}, 0},
		{"an item moves", func(f *fixture) { f.own(0, jvm) }, 2},
		{"one runs", func(f *fixture) { f.begun(jvm, 0) }, 2},
		{"a server is disabled", func(f *fixture) { f.disable(jvm) }, 4},
		{"one joins, on a server of its own", func(f *fixture) { f.jvms(other) }, 5},
		{"nothing again", func(*fixture) {}, 5},
	} {
		m.happened(f)
		f.now = tick(1).Add(time.Duration(second) * time.Second)
		if got, want := f.pass("A").Mixed.OwnersSince, momentOf(tick(1).Add(time.Duration(m.want)*time.Second)); got != want {
			t.Errorf("%s, after %d s: since %v, want %v", m.name, second, got, want)
		}
	}
}

// The rules that are in force depend on who leads.
func TestMixedRules(t *testing.T) {
	for _, c := range []struct {
		name string
		tree func(*fixture)
		want []string
	}{
		{"no JVM is there", func(f *fixture) { f.leader("A") }, nil},
		{"one has gone, and its items are left", func(f *fixture) { f.leader("A").own(0, jvm) }, nil},
		{"one of ours leads", func(f *fixture) { f.jvms(jvm).leader("A") }, []string{"record JVM runs", "failover latch", "late resignation", "JVM order", "gated moves", "reshard on handover"}},
		{"a JVM leads", func(f *fixture) { f.jvms(jvm).leader(jvm) }, []string{"record JVM runs", "failover latch", "late resignation", "JVM order", "pause while a JVM reshards", "complete what a JVM leaves"}},
	} {
		f := given(t).members("A")
		c.tree(f)
		if diff := gocmp.Diff(c.want, f.pass("A").MixedRules()); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", c.name, diff)
		}
	}
}

// Our fires wait for a JVM leader that assigns. It does so in its next fire, so the time counts from the
// first tick since the word.
func TestHeldForJVM(t *testing.T) {
	const flag, later = -40 * time.Second, 12 * time.Second
	oneOff := func(r *decide.Rules) { r.Cron = "" }
	sameTick := func(r *decide.Rules) { r.Cron = "5 0 * * * ?" } // tick 1 is the only one for an hour
	for _, c := range []struct {
		name  string
		rules func(*decide.Rules)
		flag  time.Duration // after tick 1
		now   time.Duration
		tree  func(*fixture)
		want  time.Duration
	}{
		{name: "before the tick", rules: sameTick, flag: -time.Second, now: -time.Millisecond, want: 30 * time.Second},
		{name: "at a tick long after the word", rules: sameTick, flag: -4 * time.Second, now: 0, want: 30 * time.Second},
		{name: "some time after the tick", rules: sameTick, flag: -4 * time.Second, now: 29 * time.Second, want: time.Second},
		{name: "too long", rules: sameTick, flag: -4 * time.Second, now: 30 * time.Second},
		{name: "much too long", rules: sameTick, flag: -4 * time.Second, now: time.Hour - 6*time.Second},
		{name: "the word came after the tick", rules: sameTick, flag: later, now: later + time.Second, want: 30 * time.Second},
		{name: "the word came with the tick", rules: sameTick, flag: 900 * time.Millisecond, now: time.Second, want: 29 * time.Second},
		{name: "a minute cron, and the word came long before", rules: minutely, flag: 5 * time.Second, now: 55 * time.Second, want: 30 * time.Second},
		{name: "a one-off job", rules: oneOff, flag: flag, now: flag + 10*time.Second, want: 20 * time.Second},
		{name: "a one-off job, too long", rules: oneOff, flag: flag, now: 0},
		{name: "it assigns", tree: func(f *fixture) { f.remove("leader/sharding").put("leader/sharding/processing", "") }, now: time.Second, want: 29 * time.Second},
		{name: "it has assigned, and reads its cache", tree: func(f *fixture) { f.remove("leader/sharding").seen(time.Second) }, now: 1499 * time.Millisecond, want: time.Millisecond},
		{name: "it has assigned, and what it runs shows", tree: func(f *fixture) { f.remove("leader/sharding").seen(time.Second) }, now: 1500 * time.Millisecond},
		{name: "it has assigned, and does not lead any more", tree: func(f *fixture) { f.remove("leader").leader("A").seen(time.Second) }, now: 1100 * time.Millisecond},
		{name: "nobody leads", tree: func(f *fixture) { f.remove("leader/election") }, now: time.Second},
		{name: "one of ours leads", tree: func(f *fixture) { f.remove("leader/election").leader("A") }, now: time.Second},
		{name: "the leader has gone", tree: func(f *fixture) { f.crash(jvm) }, now: time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := given(t, someOf(c.rules)...).jvms(jvm).leader(jvm).put("leader/sharding/necessary", "")
			f.now = tick(1).Add(-time.Minute)
			f.members("A")
			f.mixed = nil
			f.seen(c.flag)
			if c.tree != nil {
				c.tree(f)
			}
			f.now = tick(1).Add(c.now)
			if got := f.pass("A").JVMReshardWait(); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// A tick that came while our fires waited is on time afterwards, also where nothing is made up.
func TestHeldTicksAreOnTime(t *testing.T) {
	const none, normal, misfire = decide.Source(0), decide.Normal, decide.Misfire
	for _, c := range []struct {
		name             string
		flag, over       time.Duration // after the tick; over is 0 if it still stands
		now              time.Duration
		want, misfireOff decide.Source
	}{
		{"it stood for some time", -10 * time.Second, 20 * time.Second, 20500 * time.Millisecond, normal, normal},
		{"and 1.5 s passed then", -10 * time.Second, 20 * time.Second, 21500 * time.Millisecond, normal, normal},
		{"and more than that", -10 * time.Second, 20 * time.Second, 21500*time.Millisecond + 1, misfire, none},
		{"it came with the tick", 900 * time.Millisecond, 20 * time.Second, 20500 * time.Millisecond, normal, normal},
		{"it came when the tick was missed", 1100 * time.Millisecond, 20 * time.Second, 20500 * time.Millisecond, misfire, none},
		{"it was over before", -10 * time.Second, -time.Second, 1100 * time.Millisecond, misfire, none},
		{"it was over before, and the tick comes just now", -10 * time.Second, -time.Second, time.Second, normal, normal},
		{"it stands, and nobody waits any more", -10 * time.Second, 0, 30500 * time.Millisecond, normal, normal},
		{"it stood for too long", -10 * time.Second, 50 * time.Second, 31 * time.Second, normal, normal},
		{"it stood for much too long", -10 * time.Second, 40 * time.Second, 40500 * time.Millisecond, misfire, none},
	} {
		for isOff, want := range map[bool]decide.Source{false: c.want, true: c.misfireOff} {
			t.Run(c.name, func(t *testing.T) {
				f := given(t, minutely, func(r *decide.Rules) { r.Misfire = !isOff }).members("A").jvms(jvm).leader(jvm).own(0, "A").fired(0, begin)
				at := func(after time.Duration) *fixture { return f.seen(55*time.Second + after) } // the tick is at 10:01
				at(-11 * time.Second)
				f.put("leader/sharding/necessary", "")
				at(c.flag)
				if c.over != 0 && c.over <= c.now {
					f.remove("leader/sharding")
					at(c.over)
				}
				f.now = tick(1).Add(55*time.Second + c.now)
				got := none
				for _, d := range f.pass("A").Due(f.work) {
					got = d.Source
				}
				if got != want {
					t.Errorf("misfire off %v: source %d, want %d", isOff, got, want)
				}
			})
		}
	}
}
