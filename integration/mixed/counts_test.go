package mixed

import (
	"testing"
	"time"
)

// A ledger of one item and ticks at 0, 10, 20, … s.
func TestCounts(t *testing.T) {
	at := func(seconds float64) time.Time {
		return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(seconds * float64(time.Second)))
	}
	run := func(k kind, s source, tick, begin, end float64, how ending) *execution {
		e := &execution{kind: k, item: 0, source: s, begin: at(begin), end: at(end), ending: how}
		if tick >= 0 {
			e.tick = at(tick)
		}
		return e
	}
	for _, x := range []struct {
		name     string
		runs     []*execution
		orphaned bool    // at 20
		killed   float64 // when its owner was killed; 0 if it was not
		want     count
	}{
		{name: "all in time", runs: []*execution{
			run(jvm, normal, 0, 0, 1, done), run(golang, normal, 10, 10, 11, done), run(jvm, normal, 20, 20, 21, done), run(jvm, normal, 30, 30, 31, done),
		}},
		{name: "missed", runs: []*execution{
			run(jvm, normal, 0, 0, 1, done), run(jvm, normal, 30, 30, 31, done),
		}, want: count{missed: 2}},
		{name: "missed, and its owner was dead", orphaned: true, runs: []*execution{
			run(jvm, normal, 0, 0, 1, done), run(jvm, normal, 10, 10, 11, done), run(jvm, normal, 30, 30, 31, done),
		}, want: count{missed: 1, orphaned: 1}},
		{name: "missed, and its owner died as it came", killed: 20.1, runs: []*execution{
			run(jvm, normal, 0, 0, 1, done), run(jvm, normal, 10, 10, 11, done), run(jvm, normal, 30, 30, 31, done),
		}, want: count{missed: 1, orphaned: 1}},
		{name: "missed, and its owner had died long before", killed: 5, runs: []*execution{
			run(jvm, normal, 0, 0, 1, done), run(jvm, normal, 10, 10, 11, done), run(jvm, normal, 30, 30, 31, done),
		}, want: count{missed: 1}},
		{name: "begun twice", runs: []*execution{
			run(jvm, normal, 0, 0, 1, done), run(golang, normal, 0, 2, 3, done), run(jvm, normal, 10, 10, 11, done), run(jvm, normal, 20, 20, 21, done), run(jvm, normal, 30, 30, 31, done),
		}, want: count{doubled: 1}},
		{name: "begun twice, at the same time", runs: []*execution{
			run(jvm, normal, 0, 0, 1, done), run(golang, normal, 0, 0.5, 3, done), run(jvm, normal, 10, 10, 11, done), run(jvm, normal, 20, 20, 21, done), run(jvm, normal, 30, 30, 31, done),
		}, want: count{doubled: 1, overlapping: 1}},
		{name: "made up by a Go instance", runs: []*execution{
			run(jvm, normal, 0, 0, 1, done), run(golang, makeUp, 20, 25, 26, done), run(jvm, normal, 30, 30, 31, done),
		}, want: count{late: 2}},
		{name: "made up although it had begun", runs: []*execution{
			run(jvm, normal, 0, 0, 1, done), run(jvm, normal, 10, 10, 11, done), run(golang, makeUp, 10, 12, 13, done), run(jvm, normal, 20, 20, 21, done), run(jvm, normal, 30, 30, 31, done),
		}, want: count{doubled: 1}},
		{name: "made up by a JVM in a later fire", runs: []*execution{
			run(jvm, normal, 0, 0, 11, done), run(jvm, normal, 20, 20, 21, done), run(jvm, makeUp, 20, 21, 22, done), run(jvm, normal, 30, 30, 31, done),
		}, want: count{late: 1}},
		{name: "made up by a JVM, and nothing was missed", runs: []*execution{
			run(jvm, normal, 0, 0, 1, done), run(jvm, normal, 10, 10, 11, done), run(jvm, normal, 20, 20, 21, done), run(jvm, makeUp, 20, 21, 22, done), run(jvm, normal, 30, 30, 31, done),
		}, want: count{doubled: 1}},
		{name: "late", runs: []*execution{
			run(jvm, normal, 0, 0, 1, done), run(golang, normal, 10, 13, 14, done), run(jvm, normal, 20, 20, 21, done), run(jvm, normal, 30, 30, 31, done),
		}, want: count{late: 1}},
		{name: "run again after a kill", runs: []*execution{
			run(jvm, normal, 0, 0, 1, killed), run(golang, failover, 0, 5, 6, done), run(jvm, normal, 10, 10, 11, done), run(jvm, normal, 20, 20, 21, done), run(jvm, normal, 30, 30, 31, done),
		}, want: count{failedOver: 1}},
		{name: "run again for no tick", runs: []*execution{
			run(jvm, normal, 0, 0, 1, killed), run(golang, failover, -1, 5, 6, done), run(jvm, normal, 10, 10, 11, done), run(jvm, normal, 20, 20, 21, done), run(jvm, normal, 30, 30, 31, done),
		}, want: count{failedOver: 1, wrong: 1}},
		{name: "run again twice", runs: []*execution{
			run(jvm, normal, 0, 0, 1, killed), run(golang, failover, 0, 5, 6, done), run(jvm, failover, -1, 7, 8, done), run(jvm, normal, 10, 10, 11, done), run(jvm, normal, 20, 20, 21, done), run(jvm, normal, 30, 30, 31, done),
		}, want: count{failedOver: 1, twice: 1}},
		{name: "run again after two kills", runs: []*execution{
			run(jvm, normal, 0, 0, 1, killed), run(golang, failover, 0, 5, 6, killed), run(jvm, failover, -1, 8, 9, done), run(jvm, normal, 10, 10, 11, done), run(jvm, normal, 20, 20, 21, done), run(jvm, normal, 30, 30, 31, done),
		}, want: count{failedOver: 2}},
		{name: "not run again", runs: []*execution{
			run(jvm, normal, 0, 0, 1, killed), run(jvm, normal, 10, 10, 11, done), run(jvm, normal, 20, 20, 21, done), run(jvm, normal, 30, 30, 31, done),
		}, want: count{unrecovered: 1}},
		{name: "run again although it was done, because its record said otherwise", runs: []*execution{
			run(jvm, normal, 0, 0, 1, torn), run(golang, failover, 0, 5, 6, done), run(jvm, normal, 10, 10, 11, done), run(jvm, normal, 20, 20, 21, done), run(jvm, normal, 30, 30, 31, done),
		}, want: count{failedOver: 1}},
		{name: "run again, and nothing was cut short", runs: []*execution{
			run(jvm, normal, 0, 0, 1, done), run(golang, failover, 0, 5, 6, done), run(jvm, normal, 10, 10, 11, done), run(jvm, normal, 20, 20, 21, done), run(jvm, normal, 30, 30, 31, done),
		}, want: count{doubled: 1}},
	} {
		t.Run(x.name, func(t *testing.T) {
			l := newLedger()
			for _, seconds := range []float64{0, 10, 20, 30} {
				l.comes(due{tick: at(seconds), total: 1, orphaned: map[int]bool{0: x.orphaned && seconds == 20}, owners: []string{"owner"}})
			}
			if x.killed > 0 {
				l.dead["owner"] = at(x.killed)
			}
			l.executions = x.runs
			got := l.count(at(0), at(40), true)
			x.want.ticks = 4
			if got.String() != x.want.String() {
				t.Errorf("%s\ngot  %v\nwant %v\n%v", titles, &got, &x.want, got.stories)
			}
		})
	}
}
