package decide_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// submit writes a request, and returns its path below the job.
func (f *fixture) submit(d jobtree.RequestDocument) string {
	f.Helper()
	if d.Source == "" {
		d.Source = "MANUAL"
	}
	s := jobtree.Read(f.store.Snapshot(), f.job)
	id, ops, err := decide.Submit(s, f.job, d, fmt.Sprint("r", len(s.Requests)))
	if err != nil {
		f.Fatal(err)
	}
	f.must(0, ops...)
	return "requests/" + id
}

// progress writes how far an item has come with a request.
func (f *fixture) progress(request string, item int, d jobtree.ProgressDocument) *fixture {
	f.Helper()
	return f.put(fmt.Sprintf("%s/%d", request, item), string(jobtree.EncodeProgress(d)))
}

// runsFor makes the last claim of an item one for a request.
func (f *fixture) runsFor(id string, item int, request string) *fixture {
	f.Helper()
	s := jobtree.Read(f.store.Snapshot(), f.job).Item(item)
	return f.must(0, coord.Put(f.job.Running(item), []byte(id)), coord.Put(f.job.Fired(item), s.Fired.Value),
		coord.Put(f.path(request)+fmt.Sprintf("/%d", item), jobtree.EncodeProgress(jobtree.ProgressDocument{Runner: id})))
}

// cancel ends a request.
func (f *fixture) cancel(request string) *fixture {
	f.Helper()
	d := jobtree.Read(f.store.Snapshot(), f.job).Request(strings.TrimPrefix(request, "requests/")).RequestDocument
	d.Ended = f.now
	value, err := jobtree.EncodeRequest(d)
	if err != nil {
		f.Fatal(err)
	}
	return f.put(request, string(value))
}

const firstRequest, secondRequest = "requests/000000000001-r0", "requests/000000000002-r1"

// obeys returns what TakeTrigger changes.
func obeys(p pass) []decide.Change {
	change, _ := p.TakeTrigger("u") // the error is about the trigger, for the log
	return one(change)
}

// A trigger becomes a request in the commit that removes it.
func TestTakeTrigger(t *testing.T) {
	base := func(f *fixture) { f.members("A", "B").deal("A", "B", "A") }
	request := func(items string) []string {
		return []string{"+ requests = 1", "+ requests/000000000001-u = items: \"" + items + "\"\nsource: MANUAL\nat: 2026-01-05T10:00:05.100Z\n", "- trigger/A"}
	}
	taken := []string{"- trigger/A"}
	for _, r := range []row{
		{name: "nothing is asked"},
		{name: "somebody else is", tree: func(f *fixture) { f.put("trigger/B", "") }},
		{name: "all items", tree: func(f *fixture) { f.put("trigger/A", "") }, want: request("0,2")},
		{name: "with a disabled item", tree: func(f *fixture) { f.put("trigger/A", "").put("sharding/2/disabled", "") }, want: request("0")},
		{name: "with a value", tree: func(f *fixture) { f.put("trigger/A", "items: 1") }, want: request("0,2")},
		{name: "with a disabled server", tree: func(f *fixture) { f.put("trigger/A", "").disable("A") }, want: taken},
		{name: "without items", tree: func(f *fixture) { f.put("trigger/A", "").own(0, "B").own(2, "B") }, want: taken},
	} {
		r.run(t, base, obeys)
	}
	asked := func(f *fixture) { base(f); f.put("trigger/A", "") }
	for _, c := range []conflict{
		{"more is asked", func(f *fixture) { f.put("trigger/A", "") }},
		{"it was taken, and no answer came", func(f *fixture) { f.remove("trigger/A") }},
		{"another request comes", func(f *fixture) { f.submit(jobtree.RequestDocument{Items: []int{0}}) }},
		{"the session ends", func(f *fixture) { f.crash("A") }},
	} {
		c.run(t, asked, obeys)
	}
}

// The leader obeys the triggers of instances that have ended, if it has known them.
func TestAdoptTrigger(t *testing.T) {
	base := func(f *fixture) { f.members("A", "B").leader("A").deal("A", "B", "A").put("trigger/B", "") }
	inherits := func(p pass) []decide.Change {
		change, _ := p.AdoptTrigger(func(id string) bool { return id == "B" }, "u") // the error is about the trigger, for the log
		return one(change)
	}
	for _, r := range []row{
		{name: "it is there"},
		{name: "it has ended", tree: func(f *fixture) { f.crash("B") }, want: []string{
			"+ requests = 1", "+ requests/000000000001-u = items: \"1\"\nsource: MANUAL\nat: 2026-01-05T10:00:05.100Z\n", "- trigger/B"}},
		{name: "it was not known", tree: func(f *fixture) { f.remove("trigger/B").put("trigger/X", "") }, want: []string{"- trigger/X"}},
	} {
		r.run(t, base, inherits)
	}
	ended := func(f *fixture) { base(f); f.crash("B") }
	for _, c := range []conflict{
		{"the trigger is written again", func(f *fixture) { f.put("trigger/B", "") }},
		{"its instance shows later", func(f *fixture) { f.put("instances/B", "") }},
		{"somebody else leads", func(f *fixture) { f.remove("leader/election/instance") }},
	} {
		c.run(t, ended, inherits)
	}
}

func TestSubmit(t *testing.T) {
	full := func(f *fixture) *jobtree.State {
		s := jobtree.Read(f.store.Snapshot(), f.job)
		for n := range decide.MaxQueued {
			s.Requests = append(s.Requests, &jobtree.Request{ID: fmt.Sprintf("%012d-x", n+1), RequestDocument: jobtree.RequestDocument{Items: []int{1, 2}}})
		}
		return s
	}
	f := given(t).members("A").deal("A", "A", "A")
	s := full(f)
	if _, _, err := decide.Submit(s, f.job, jobtree.RequestDocument{Items: []int{0, 2}}, "u"); !errors.Is(err, jobtree.ErrQueueFull) || !strings.Contains(err.Error(), "item 2") {
		t.Errorf("a full queue: %v", err)
	}
	if id, _, err := decide.Submit(s, f.job, jobtree.RequestDocument{Items: []int{0}}, "u"); err != nil || id != "000000000101-u" {
		t.Errorf("another item: %s, %v", id, err)
	}
	s.Requests[0].Ended = begin
	if _, _, err := decide.Submit(s, f.job, jobtree.RequestDocument{Items: []int{2}}, "u"); err != nil {
		t.Errorf("one has ended: %v", err)
	}
	for n := len(s.Requests); n <= decide.MaxRequests; n++ {
		s.Requests = append(s.Requests, &jobtree.Request{ID: fmt.Sprintf("%012d-x", n+1)})
	}
	if _, _, err := decide.Submit(s, f.job, jobtree.RequestDocument{Items: []int{0}}, "u"); !errors.Is(err, jobtree.ErrQueueFull) {
		t.Errorf("a full job: %v", err)
	}
}

func begins(p pass) []decide.Change {
	items := append(p.Requested(p.work, false), p.Requested(p.work, true)...)
	return p.ClaimRequested(items[:min(len(items), p.free)])
}

func TestBeginRequested(t *testing.T) {
	base := func(f *fixture) {
		f.members("A", "B").deal("A", "B", "A").fired(0, tick(1))
		f.submit(jobtree.RequestDocument{Items: []int{0, 1, 2}, Parameter: "x"})
		f.now = tick(1).Add(1234 * time.Millisecond)
	}
	const at = "2026-01-05T10:00:06.234Z"
	zero := []string{"+ requests/000000000001-r0/0 = runner: A\n", "+ sharding/0/fired = 2026-01-05T10:00:05.000Z " + at, "+ sharding/0/running = A"}
	two := []string{"+ requests/000000000001-r0/2 = runner: A\n", "+ sharding/2/fired = 2026-01-05T10:00:00.000Z " + at, "+ sharding/2/running = A"}
	both := []string{zero[0], two[0], zero[1], zero[2], two[1], two[2]}
	for _, r := range []row{
		{name: "its items, whatever their ticks", want: both},
		{name: "one that runs waits", tree: func(f *fixture) { f.claim("A", 2, tick(1)) }, want: zero},
		{name: "one that has not returned waits", tree: func(f *fixture) { f.work.Runs[0] = &decide.Run{} }, want: two},
		{name: "one that a JVM has taken over waits", tree: func(f *fixture) { f.jvms(jvm).create(jvm, "sharding/2/failover", jvm) }, want: zero},
		{name: "one thread", tree: func(f *fixture) { f.free = 1 }, want: zero},
		{name: "no thread", tree: func(f *fixture) { f.free = 0 }},
		{name: "a thread that the first does not need", tree: func(f *fixture) { f.free = 1; f.put("sharding/0/disabled", "") }, want: two},
		{name: "a disabled server", tree: func(f *fixture) { f.disable("A") }},
		{name: "on the way out", tree: func(f *fixture) { f.leaving = true }},
		{name: "without a schedule", rules: func(r *decide.Rules) { r.Cron = "" }, want: both},
		{name: "in a pause", tree: func(f *fixture) { f.pause(begin) }, want: both},
		{name: "it runs already, by the tree", tree: func(f *fixture) { f.progress(firstRequest, 0, jobtree.ProgressDocument{Runner: "B"}) }, want: two},
		{name: "it has run", tree: func(f *fixture) { f.progress(firstRequest, 0, jobtree.ProgressDocument{Done: 1, Outcome: "OK"}) }, want: two},
		{name: "it has ended", tree: func(f *fixture) {
			f.put(firstRequest, "items: 0-2\nsource: MANUAL\nended: 2026-01-05T10:00:00.000Z\n")
		}},
		{name: "nobody can read it", tree: func(f *fixture) { f.put(firstRequest, "items: all") }},
		{
			name: "an earlier one comes first",
			tree: func(f *fixture) {
				f.submit(jobtree.RequestDocument{Items: []int{0}})
				f.progress(firstRequest, 2, jobtree.ProgressDocument{Done: 1, Outcome: "FAILED"})
			},
			want: zero,
		},
		{
			name: "the next one's turn",
			tree: func(f *fixture) {
				f.submit(jobtree.RequestDocument{Items: []int{0}})
				f.progress(firstRequest, 0, jobtree.ProgressDocument{Done: 1, Outcome: "OK"}).progress(firstRequest, 2, jobtree.ProgressDocument{Done: 1, Outcome: "OK"})
			},
			want: append([]string{"+ " + secondRequest + "/0 = runner: A\n"}, zero[1:]...),
		},
		{
			name: "without records", rules: unrecorded,
			want: []string{zero[0], two[0]},
		},
	} {
		r.run(t, base, begins)
	}
	for _, c := range []conflict{
		{"the item is given to somebody else", func(f *fixture) { f.own(0, "B") }},
		{"it begins to run", func(f *fixture) { f.put("sharding/0/running", "B") }},
		{"it ran for it", func(f *fixture) {
			f.progress(firstRequest, 0, jobtree.ProgressDocument{Done: 1, Outcome: "OK"})
		}},
		{"the request is taken back", func(f *fixture) { f.remove(firstRequest) }},
		{"there are fewer items", func(f *fixture) { f.configure(oneItem) }},
		{"the session ends", func(f *fixture) { f.crash("A") }},
	} {
		c.run(t, base, begins)
	}
	t.Run("what begins", func(t *testing.T) {
		f := given(t)
		base(f)
		equalClaims(t, "requested", claimsOf(begins(f.pass("A"))), []decide.Claim{
			{Item: 0, Source: decide.Manual, Tick: f.now, Last: tick(1), Before: tick(1), Parameter: "x", Request: "000000000001-r0"},
			{Item: 2, Source: decide.Manual, Tick: f.now, Last: tick(0), Before: tick(0), Parameter: "x", Request: "000000000001-r0"},
		})
	})
	t.Run("the ticks of a backfill, in order", func(t *testing.T) {
		f := given(t).members("A").deal("A", "A", "A")
		r := f.submit(jobtree.RequestDocument{Items: []int{0}, Source: "BACKFILL", Ticks: []time.Time{tick(-9), tick(-8)}})
		f.progress(r, 0, jobtree.ProgressDocument{Done: 1, Failed: 1})
		equalClaims(t, "requested", claimsOf(begins(f.pass("A"))), []decide.Claim{
			{Item: 0, Source: decide.Backfill, Tick: tick(-8), Last: tick(0), Before: tick(0), Request: "000000000001-r0", Done: 1, Failed: 1},
		})
	})
}

// pause pauses the job.
func (f *fixture) pause(at time.Time) *fixture {
	f.Helper()
	s := jobtree.Read(f.store.Snapshot(), f.job).Schedule
	d := s.ScheduleDocument
	d.Paused = at
	value, err := jobtree.EncodeSchedule(d)
	if err != nil {
		f.Fatal(err)
	}
	return f.put("schedule", string(value))
}

// The end of a run is the end of its part of the request.
func TestRequestedRunEnds(t *testing.T) {
	done := func(outcome jobtree.Outcome) *jobtree.CompletionDocument {
		return &jobtree.CompletionDocument{Outcome: outcome, Error: "why"}
	}
	for _, tc := range []struct {
		name         string
		request      jobtree.RequestDocument
		done, failed int
		outcome      jobtree.Outcome
		want         string
	}{
		{"well", jobtree.RequestDocument{}, 0, 0, "OK", "done: 1\nout: OK\nerr: why\n"},
		{"badly", jobtree.RequestDocument{}, 0, 0, "FAILED", "done: 1\nfailed: 1\nout: FAILED\nerr: why\n"},
		{"killed", jobtree.RequestDocument{}, 0, 0, "KILLED", "done: 1\nfailed: 1\nout: KILLED\nerr: why\n"},
		{"the first of two", jobtree.RequestDocument{Ticks: []time.Time{tick(-2), tick(-1)}}, 0, 0, "FAILED", "done: 1\nfailed: 1\nerr: why\n"},
		{"the first of two, and it halts", jobtree.RequestDocument{Ticks: []time.Time{tick(-2), tick(-1)}, Halts: true}, 0, 0, "TIMEOUT", "done: 1\nfailed: 1\nout: TIMEOUT\nerr: why\n"},
		{"the last of two", jobtree.RequestDocument{Ticks: []time.Time{tick(-2), tick(-1)}}, 1, 1, "OK", "done: 2\nfailed: 1\nout: FAILED\nerr: why\n"},
		{"the last of two, both well", jobtree.RequestDocument{Ticks: []time.Time{tick(-2), tick(-1)}}, 1, 0, "OK", "done: 2\nout: OK\nerr: why\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := given(t).members("A").deal("A", "A", "A")
			tc.request.Items = []int{1}
			f.submit(tc.request)
			f.progress(firstRequest, 1, jobtree.ProgressDocument{Done: tc.done, Failed: tc.failed})
			claimed := f.pass("A")
			changes := begins(claimed)
			claims := claimsOf(changes)
			f.changes("A", changes...)
			r := &decide.Run{Claim: claims[0], Instance: "A", Recorded: true, Completed: done(tc.outcome)}
			r.Token = jobtree.Read(f.store.Snapshot(), f.job).Item(1).Fired.Modified
			f.work.Runs[1] = r
			got := f.changes("A", finishes(f.pass("A"))...)
			if want := "+ " + firstRequest + "/1 = " + tc.want; !slices.Contains(got, want) {
				t.Errorf("got %q\nwant %q", got, want)
			}
		})
	}
}

// What becomes of a request whose runner ends.
func TestRunnerOfARequestEnds(t *testing.T) {
	base := func(f *fixture) {
		f.members("A", "B").leader("A").deal("A", "B", "A")
		f.submit(jobtree.RequestDocument{Items: []int{1}})
		f.changes("B", begins(f.pass("B"))...)
		f.crash("B")
	}
	cut := "+ requests/000000000001-r0/1 = done: 1\nfailed: 1\nout: CUT\nend: 2026-01-05T10:00:05.100Z\n" +
		"err: \"its instance ended before the run did, and it was not tried again: the job has no failover\"\n"
	for _, tc := range []struct {
		name  string
		rules func(*decide.Rules)
		want  bool // that the request's part is over
	}{
		{"with failover", nil, false},
		{"without failover", failoverOff, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := given(t, someOf(tc.rules)...)
			base(f)
			if tc.want {
				f.put("sharding/1/running", "B") // as a torn view may have it
			}
			got := f.changes("A", recovers(f.pass("A"))...)
			if slices.Contains(got, cut) != tc.want {
				t.Errorf("got %q", got)
			}
			if tc.want {
				return
			}
			claims := claimsOf(takesOver(f.pass("A")))
			if len(claims) != 1 || claims[0].Request != "000000000001-r0" || claims[0].Source != decide.Failover {
				t.Errorf("taken over as %+v", claims)
			}
		})
	}
}

func endsRequests(p pass) []decide.Change { return p.EndRequests() }

// The coordinator ends what cannot go on.
func TestEndRequests(t *testing.T) {
	base := func(f *fixture) {
		f.members("A", "B").leader("A").deal("A", "B", "A")
		f.submit(jobtree.RequestDocument{Items: []int{0, 1}, Kept: true})
	}
	const at = "end: 2026-01-05T10:00:05.100Z\n"
	through := func(f *fixture) {
		f.progress(firstRequest, 0, jobtree.ProgressDocument{Done: 1, Outcome: "OK"}).progress(firstRequest, 1, jobtree.ProgressDocument{Done: 1, Outcome: "OK"})
	}
	ended := func(ended time.Time, kept bool) func(*fixture) {
		return func(f *fixture) {
			value, err := jobtree.EncodeRequest(jobtree.RequestDocument{Items: []int{0, 1}, Source: "MANUAL", Kept: kept, Ended: ended})
			if err != nil {
				f.Fatal(err)
			}
			f.put(firstRequest, string(value))
		}
	}
	for _, r := range []row{
		{name: "all waits"},
		{name: "it runs", tree: func(f *fixture) { f.changes("A", begins(f.pass("A"))...) }},
		{
			name: "its runner is gone, and nobody runs it again",
			tree: func(f *fixture) { f.progress(firstRequest, 1, jobtree.ProgressDocument{Runner: "X"}) },
			want: []string{"+ " + firstRequest + "/1 = done: 1\nfailed: 1\nout: CUT\n" + at + "err: \"its instance ended before the run did, and it was not tried again: its record is gone\"\n"},
		},
		{
			name: "its record was removed while it runs",
			tree: func(f *fixture) {
				f.changes("B", begins(f.pass("B"))...)
				f.remove("sharding/1/running")
			},
		},
		{
			name: "its record was removed, and a tick was claimed since",
			tree: func(f *fixture) {
				f.progress(firstRequest, 1, jobtree.ProgressDocument{Runner: "B"})
				f.remove("sharding/1/running").claim("C", 1, tick(1))
				f.remove("sharding/1/running")
			},
			want: []string{"+ " + firstRequest + "/1 = done: 1\nfailed: 1\nout: CUT\n" + at + "err: \"its instance ended before the run did, and it was not tried again: its record is gone\"\n"},
		},
		{
			name: "it waited to be run again, and failover was switched off",
			tree: func(f *fixture) {
				r := begins(f.pass("B"))
				f.changes("B", r...)
				f.remove("sharding/1/running").progress(firstRequest, 1, jobtree.ProgressDocument{Runner: "B"})
			},
			want: []string{"+ " + firstRequest + "/1 = done: 1\nfailed: 1\nout: CUT\n" + at + "err: \"its instance ended before the run did, and it was not tried again: its record is gone\"\n"},
		},
		{
			name: "it waited to be run again, and the job has no such item any more",
			tree: func(f *fixture) {
				f.configure(oneItem)
				f.progress(firstRequest, 1, jobtree.ProgressDocument{Runner: "B"})
				f.remove("sharding/1")
			},
			want: []string{"+ " + firstRequest + "/1 = done: 1\nfailed: 1\nout: CUT\n" + at + "err: \"its instance ended before the run did, and it was not tried again: its record is gone\"\n"},
		},
		{
			name: "its runner is gone, and it waits to be run again",
			tree: func(f *fixture) {
				f.progress(firstRequest, 1, jobtree.ProgressDocument{Runner: "X"}).put("leader/failover/items/1", "")
			},
		},
		{
			name: "an item is disabled",
			tree: func(f *fixture) { f.put("sharding/1/disabled", "") },
			want: []string{"+ " + firstRequest + "/1 = out: SKIPPED\n" + at + "err: the item is disabled\n"},
		},
		{
			name: "an item is gone",
			tree: func(f *fixture) { f.configure(oneItem) },
			want: []string{"+ " + firstRequest + "/1 = out: SKIPPED\n" + at + "err: the job has no such item any more\n"},
		},
		{
			name: "a JVM member has it",
			tree: func(f *fixture) { f.own(1, "J").create("J", "instances/J", "") },
			want: []string{
				"+ " + firstRequest + "/1 = out: SKIPPED\n" + at + "err: the JVM member J was asked to run all of its items, and does not tell how they end\n",
				"+ trigger/J = ",
			},
		},
		{
			name: "all are through", tree: through,
			want: []string{"+ " + firstRequest + " = items: \"0-1\"\nsource: MANUAL\nkept: true\nended: 2026-01-05T10:00:05.100Z\n"},
		},
		{name: "it has ended", tree: ended(tick(0), true)},
		{name: "it has ended long ago", tree: ended(tick(1).Add(-time.Hour), true), want: []string{"- " + firstRequest}},
		{name: "it has ended, and nobody wants to know", tree: ended(tick(0), false), want: []string{"- " + firstRequest}},
		{name: "nobody can read it", tree: func(f *fixture) { f.put(firstRequest, "items: all") }, want: []string{"- " + firstRequest}},
		{name: "somebody else leads", tree: func(f *fixture) { through(f); f.remove("leader/election/instance").leader("B") }},
	} {
		r.run(t, base, endsRequests)
	}
	stranded := func(f *fixture) { base(f); f.progress(firstRequest, 1, jobtree.ProgressDocument{Runner: "X"}) }
	conflict{"the job has the item again", func(f *fixture) { f.reconfigure() }}.run(t, func(f *fixture) { base(f); f.configure(oneItem) }, endsRequests)
	for _, c := range []conflict{
		{"it runs all the same", func(f *fixture) { f.put("sharding/1/running", "B") }},
		{"it waits to be run again", func(f *fixture) { f.put("leader/failover/items/1", "") }},
		{"its runner tells", func(f *fixture) {
			f.progress(firstRequest, 1, jobtree.ProgressDocument{Done: 1, Outcome: "OK"})
		}},
	} {
		c.run(t, stranded, endsRequests)
	}
	conflict{"an item was claimed before it was cancelled", func(f *fixture) {
		f.progress(firstRequest, 1, jobtree.ProgressDocument{Runner: "B"})
	}}.run(t, func(f *fixture) { base(f); ended(tick(0), false)(f) }, endsRequests)
}

// A large request goes in parts, and none of its items begins anew meanwhile.
func TestLargeRequestGoes(t *testing.T) {
	f := given(t, func(r *decide.Rules) { r.Total = 300 }).members("A").leader("A")
	items := make([]int, 300)
	for i := range items {
		items[i] = i
		f.own(i, "A").fired(i, begin)
	}
	r := f.submit(jobtree.RequestDocument{Items: items})
	for i := range items {
		f.progress(r, i, jobtree.ProgressDocument{Done: 1, Outcome: "OK"})
	}
	for n := 0; ; n++ {
		p := f.pass("A")
		if n > 0 && len(p.Requested(p.work, false)) > 0 {
			t.Fatal("items begin anew")
		}
		changes := p.EndRequests()
		if len(changes) == 0 {
			break
		}
		for _, c := range changes {
			if err := coord.ValidateCommit(c.Ops...); err != nil {
				t.Fatal(err)
			}
		}
		f.changes("A", changes...)
	}
	if s := jobtree.Read(f.store.Snapshot(), f.job); len(s.Requests) > 0 {
		t.Errorf("left: %+v", s.Requests[0])
	}
}

// Requests that have ended are kept, but not for any number of items: the oldest go first.
func TestKeptRequests(t *testing.T) {
	for name, tc := range map[string]struct{ requests, items, kept int }{
		"few": {3, 1, 3}, "many": {105, 1, 100}, "large ones": {5, 4000, 2}, "one that is too large": {2, 20_000, 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := given(t).members("A").leader("A").pass("A")
			items := make([]int, tc.items)
			for i := range items {
				items[i] = i
			}
			for n := range tc.requests {
				p.Requests = append(p.Requests, &jobtree.Request{
					Node: coord.Node{Version: 1}, ID: jobtree.NewRequestID(int64(n+1), "x"),
					RequestDocument: jobtree.RequestDocument{Items: items, Kept: true, Ended: tick(0)},
				})
			}
			var gone []string
			for _, c := range p.EndRequests() {
				for _, op := range c.Ops {
					if strings.HasPrefix(op.String(), "delete") {
						gone = append(gone, op.String())
					}
				}
			}
			if len(gone) != tc.requests-tc.kept || len(gone) > 0 && !strings.Contains(strings.Join(gone, " "), "000000000001-x") {
				t.Errorf("%d are gone, want %d: %q", len(gone), tc.requests-tc.kept, gone)
			}
		})
	}
}

// Somebody looks after requests, and only one, whoever leads.
func TestClerk(t *testing.T) {
	for name, tc := range map[string]struct {
		tree func(*fixture)
		one  bool
		is   string // who it is, if that matters
	}{
		"one of ours leads":  {func(f *fixture) { f.leader("B") }, true, "B"},
		"nobody leads":       {func(*fixture) {}, false, ""},
		"a JVM member leads": {func(f *fixture) { f.remove("sessions/B").leader("B") }, true, ""},
		"an old one leads":   {func(f *fixture) { f.put("sessions/B", "protocol: 1\n").leader("B") }, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := given(t).members("A", "B", "C").deal("A", "B", "C")
			tc.tree(f)
			var coordinators []string
			for _, id := range []string{"A", "B", "C"} {
				p := f.pass(id)
				if knows := p.Sessions[id] != nil && !p.IsOld(id); knows && p.IsCoordinator() {
					coordinators = append(coordinators, id)
				}
			}
			if tc.one != (len(coordinators) == 1) || tc.is != "" && coordinators[0] != tc.is {
				t.Errorf("coordinators %q", coordinators)
			}
		})
	}
}

// A view that shows commits in parts may have shown the second request first, so that the item was
// claimed for that. It has its turn then: who settles the claim, or runs the item again, goes on
// with it.
func TestRequestThatHasBegunBeforeItsTurn(t *testing.T) {
	f := given(t).members("A", "B").leader("B").deal("A", "B", "A")
	f.submit(jobtree.RequestDocument{Items: []int{0}, Source: "BACKFILL", Ticks: []time.Time{begin.Add(-time.Hour)}})
	f.submit(jobtree.RequestDocument{Items: []int{0}, Parameter: "x"})
	f.submit(jobtree.RequestDocument{Items: []int{0}})
	f.claim("A", 0, tick(1))
	f.runsFor("A", 0, secondRequest)
	claimed := f.pass("A").Item(0).Fired.Modified
	want := []decide.Claim{{Item: 0, Source: decide.Manual, Tick: tick(1), Last: tick(1), Before: tick(1), Parameter: "x", Request: "000000000002-r1", Since: claimed}}
	equalClaims(t, "settled", claimsOf(settles(f.pass("A"))), want)
	if r := f.pass("A").WaitingRequest(0); r == nil || r.ID != "000000000001-r0" {
		t.Errorf("%+v waits", r)
	}
}
