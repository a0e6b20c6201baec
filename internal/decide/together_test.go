package decide_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// toldOf are the lines of a difference that are about ticks of which once-listeners are told.
func toldOf(lines []string) []string {
	return slices.DeleteFunc(lines, func(line string) bool { return !strings.HasPrefix(line[2:], "guarantee") })
}

func assignsTo(owners ...string) func(pass) []decide.Change {
	return func(p pass) []decide.Change { return p.Assign(owners) }
}

// How a member has ended is kept where its item begins anew, or goes, before the tick is through.
func TestOutcomeStaysWhenTheItemGoes(t *testing.T) {
	for name, tc := range map[string]struct {
		rules func(*decide.Rules)
		less  func(*decide.Rules)
		step  func(pass) []decide.Change
	}{
		"another instance of a broadcast job gets the item": {rules: isBroadcast, step: assignsTo("A", "C", "")},
		"the job has fewer items":                           {less: oneItem, step: assignsTo("A")},
	} {
		t.Run(name, func(t *testing.T) {
			f := given(t, append(someOf(tc.rules), once)...)
			f.members("A", "B", "C").leader("A").deal("A", "B").crash("B")
			f.told(1, nil, 0, 1).put(at(1)+"/open", "")
			f.fired(1, tick(1)).ended(1, jobtree.CompletionDocument{Tick: tick(1), Token: 9, Outcome: jobtree.OutcomeFailed})
			f.configure(someOf(tc.less)...)
			got := toldOf(f.changes("A", tc.step(f.pass("A"))...))
			if want := []string{"+ " + at(1) + "/1 = FAILED"}; !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// With jitter, what came while an item ran is the last tick that it was to start for, and no later
// one.
func TestSkippedTickOfADelayedItem(t *testing.T) {
	f := given(t, once, func(r *decide.Rules) { r.Jitter, r.SkipOverlap = 4*time.Second, true })
	f.members("A").leader("A").deal("A", "A", "A")
	run := f.claim("A", 0, tick(1))
	run.Completed = &jobtree.CompletionDocument{Tick: tick(1), Outcome: jobtree.OutcomeOK}
	f.work.Runs[0] = run
	f.told(2, nil, 0).told(3, nil, 0)
	f.now = tick(3)
	p := f.pass("A")
	if !p.LastTickOf(0).Equal(tick(2)) {
		t.Fatalf("item 0 is not delayed: %s", p.LastTickOf(0))
	}
	got := toldOf(f.changes("A", p.Finish(p.work, f.runs(), nil)...))
	if want := []string{"+ " + at(2) + "/0 = SKIPPED"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Requests for items that nobody can run end, also while nobody knows the calendars.
func TestRequestsEndWithoutCalendars(t *testing.T) {
	for name, rules := range map[string]func(*decide.Rules){"the item is gone": oneItem, "the item has no instance": isBroadcast} {
		t.Run(name, func(t *testing.T) {
			f := given(t).members("A").leader("A").deal("A")
			f.submit(jobtree.RequestDocument{Items: []int{2}})
			f.remove("schedule")
			f.reconfigure(rules, func(r *decide.Rules) { r.Calendars = []decide.Calendar{{Name: "holidays"}} })
			if late := endsRequests(f.pass("A")); len(late) > 0 {
				t.Errorf("by rules that nobody goes by: %v", late[0].Ops)
			}
			p := f.pass("A")
			p.Accepted = p.Config.Modified
			f.changes("A", endsRequests(p)...)
			if p := f.pass("A").Requests[0].Progress(2); p == nil || p.Outcome != jobtree.OutcomeSkipped {
				t.Errorf("the item is not skipped: %+v", p)
			}
		})
	}
}

// Only who looks after ticks wakes up for their times. If all servers are disabled, nobody does.
func TestNextDeadline(t *testing.T) {
	f := given(t, once).members("A", "B").leader("A").deal("A", "B", "A")
	f.told(1, nil, 0, 1)
	if got, want := f.pass("A").NextDeadline(), tick(1).Add(time.Minute+10*time.Second); !got.Equal(want) {
		t.Errorf("the leader wakes up at %s, want %s", got, want)
	}
	if got := f.pass("B").NextDeadline(); !got.IsZero() {
		t.Errorf("another one wakes up at %s", got)
	}
	f.told(1, func(d *jobtree.GuaranteeDocument) { d.Completer = "A" }, 0, 1)
	if got := f.pass("A").NextDeadline(); !got.IsZero() {
		t.Errorf("the one that calls wakes up at %s", got)
	}
}
