package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// The record that the tests plant faults in: two items, three ticks, two instances. A is
// killed in the run of item 1 for the second tick, which B repeats; B then makes up for
// the third.
const (
	testEvery = 2 * time.Second
	normal    = "NORMAL_TRIGGER"
	misfire   = "MISFIRE"
	failover  = "FAILOVER"
)

var start = time.Date(2030, 1, 2, 3, 4, 0, 0, time.Local)

func at(seconds float64) time.Time {
	return start.Add(time.Duration(seconds * float64(time.Second)))
}

// ran is a finished run of a second.
func ran(worker string, item, tick int, source string, token int64, begun float64) *execution {
	return &execution{
		worker: worker, item: item, tick: at(float64(2 * tick)), source: source, token: token,
		begun: at(begun), ended: at(begun + 1), outcome: finished, closed: true,
	}
}

func wellPlayed() *ledger {
	l := &ledger{items: 2, losses: 1, executions: []*execution{
		ran("A", 0, 0, normal, 10, 0.1), ran("A", 1, 0, normal, 10, 0.1),
		ran("A", 0, 1, normal, 20, 2.1), ran("A", 1, 1, normal, 20, 2.1),
		ran("B", 1, 1, failover, 30, 5), ran("B", 0, 2, normal, 40, 5),
		ran("B", 1, 2, misfire, 50, 6),
	}}
	l.executions[3].outcome = cutShort
	return l
}

func TestCheckOfWhatIsAsPromised(t *testing.T) {
	v := wellPlayed().check(at(4), testEvery)
	if len(v.faults) > 0 {
		t.Errorf("faults %q", v.faults)
	}
	if len(v.ticks) != 3 || v.onTime != 5 || v.makeUps != 1 || v.repeats != 1 || v.unsaid != 0 || v.covered != 0 {
		t.Errorf("verdict %+v", v)
	}
}

func TestCheckFindsPlantedFaults(t *testing.T) {
	add := func(e *execution) func(*ledger) {
		return func(l *ledger) { l.executions = append(l.executions, e) }
	}
	remove := func(i int) func(*ledger) {
		return func(l *ledger) { l.executions = append(l.executions[:i], l.executions[i+1:]...) }
	}
	change := func(i int, f func(*execution)) func(*ledger) {
		return func(l *ledger) { f(l.executions[i]) }
	}
	tests := []struct {
		name  string
		plant func(*ledger)
		want  string
	}{
		{"begun twice", add(ran("B", 0, 2, normal, 60, 7)), "item 0, 03:04:04: began twice, the second time on B"},
		{"begun and made up for", add(ran("B", 1, 2, misfire, 60, 7)), "item 1, 03:04:04: began twice"},
		{"first tick missing", remove(0), "item 0, 03:04:00: neither begun nor made up for"},
		{"tick missing in the middle", remove(2), "item 0, 03:04:02: neither begun nor made up for"},
		{"last tick missing", remove(6), "item 1, 03:04:04: neither begun nor made up for"},
		{"item missing", func(l *ledger) { l.items = 3 }, "item 2, 03:04:02: neither begun nor made up for"},
		{"finished run again", add(ran("B", 0, 1, failover, 60, 7)), "item 0, 03:04:02: was run again on B although it had finished on A"},
		{"run again twice", add(ran("B", 1, 1, failover, 60, 7)), "item 1, 03:04:02: was run again on B although it had finished on B"},
		{"run again what never ran", add(ran("B", 1, 9, failover, 60, 7)), "item 1, 03:04:18: was run again on B although no other instance was lost"},
		{"run again although nobody was lost", func(l *ledger) { l.losses = 0 }, "item 1, 03:04:02: was run again on B although no other instance was lost"},
		{"cut short and forgotten", remove(4), "item 1, 03:04:02: was cut short on A and not run again"},
		{"taker cut short and forgotten", change(4, func(e *execution) { e.outcome = cutShort }), "was cut short on B and not run again"},
		{"two at once", change(5, func(e *execution) { e.begun = at(3) }), "item 0, 03:04:04: began on B 100ms before it had ended on A"},
		{"two at once, one of them cut short", change(4, func(e *execution) { e.begun = at(2) }), "item 1, 03:04:02: began on B 1.1s before it had ended on A"},
		{"still running", change(0, func(e *execution) { e.outcome = goingOn }), "item 0, 03:04:02: began on A while it was running on A"},
		{"same token", change(5, func(e *execution) { e.token = 20 }), "item 0, 03:04:04: has the token 20 of another run"},
		{"token that fell", change(5, func(e *execution) { e.token = 15 }), "item 0, 03:04:02: began on A"},
		{"failed", change(5, func(e *execution) { e.outcome, e.fault = failed, "disk on fire" }), "item 0, 03:04:04: failed: disk on fire"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := wellPlayed()
			test.plant(l)
			faults := strings.Join(l.check(at(4), testEvery).faults, "\n")
			if !strings.Contains(faults, test.want) {
				t.Errorf("faults:\n%s\nwant %q among them", faults, test.want)
			}
		})
	}
}

// A failover that was cut short is repeated too.
func TestCheckOfAFailoverThatWasCutShort(t *testing.T) {
	l := wellPlayed()
	l.executions[4].outcome = cutShort
	l.losses = 2
	l.executions = append(l.executions, ran("C", 1, 1, failover, 60, 9))
	if v := l.check(at(4), testEvery); len(v.faults) > 0 || v.repeats != 2 {
		t.Errorf("verdict %+v", v)
	}
}

// An instance that is lost after the end of a run, and before that is recorded, leaves a run
// that is repeated.
func TestCheckOfAnEndThatCouldNotBeRecorded(t *testing.T) {
	l := wellPlayed()
	l.executions[2].closed = false
	l.executions = append(l.executions, ran("B", 0, 1, failover, 30, 3.9))
	if v := l.check(at(4), testEvery); len(v.faults) > 0 || v.unsaid != 1 || v.repeats != 1 {
		t.Errorf("verdict %+v", v)
	}
}

// An instance that is lost after its claim, and before the run begins, leaves the run to others.
func TestCheckOfABeginThatDidNotCome(t *testing.T) {
	l := wellPlayed()
	l.executions[2] = ran("B", 0, 1, failover, 30, 3.9)
	if v := l.check(at(4), testEvery); len(v.faults) > 0 || v.unsaid != 1 || v.repeats != 1 {
		t.Errorf("verdict %+v", v)
	}
}

// The first run of a new owner covers a tick at which no instance had the item.
func TestCheckOfAnItemThatChangedHands(t *testing.T) {
	for _, test := range []struct {
		moved float64
		fine  bool
	}{{1.9, false}, {2, true}, {4.5, true}, {6.1, false}} {
		l := wellPlayed()
		l.executions = slices.Delete(l.executions, 2, 3)
		l.move(0, at(test.moved))
		if v := l.check(at(4), testEvery); test.fine != (len(v.faults) == 0 && v.covered == 1) {
			t.Errorf("moved at %v s: %+v", test.moved, v)
		}
	}
}

// A make-up covers all ticks before it that the item had missed.
func TestCheckOfAMakeUpForSeveralTicks(t *testing.T) {
	l := wellPlayed()
	l.executions = append(l.executions, ran("B", 0, 5, misfire, 60, 10.5), ran("B", 1, 5, misfire, 70, 10.5))
	if v := l.check(at(10), testEvery); len(v.faults) > 0 || v.covered != 4 || len(v.ticks) != 6 {
		t.Errorf("verdict %+v", v)
	}
}

func TestCheckOfNothing(t *testing.T) {
	l := &ledger{items: 2}
	if v := l.check(time.Time{}, testEvery); len(v.faults) > 0 || len(v.ticks) > 0 {
		t.Errorf("verdict %+v", v)
	}
}

func TestResultsThatDiffer(t *testing.T) {
	alone := []result{{Files: 1, Sum: "a"}, {Files: 2, Sum: "b"}, {Files: 3, Sum: "c"}}
	var r results
	r.put(0, 1, alone[0])
	r.put(1, 1, result{Files: 2, Sum: "x"})
	want := []string{
		"item 1: 2 files, 0 bytes, 0 lines, x, but 2 files, 0 bytes, 0 lines, b when counted alone",
		"item 2 has no result",
	}
	if got := r.differ(alone); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("differences %q, want %q", got, want)
	}
}

func TestResultsRefuseAnOldToken(t *testing.T) {
	var r results
	for _, write := range []struct {
		token int64
		files int
		taken bool
	}{{5, 1, true}, {7, 2, true}, {5, 3, false}, {7, 4, true}, {6, 5, false}} {
		if taken := r.put(0, write.token, result{Files: write.files}); taken != write.taken {
			t.Errorf("a write with token %d is taken: %v", write.token, taken)
		}
	}
	if r.rows[0].Files != 4 || r.refused != 2 {
		t.Errorf("results %+v", r)
	}
}
