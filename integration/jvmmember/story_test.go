package jvmmember_test

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/integration/jvmmember"
)

// patience is how long a test waits for what has to come, also on a slow machine.
const patience = 2 * time.Minute

// story is a job whose members work until the test lets them.
type story struct {
	t        testing.TB
	ground   ground
	document string
	operator coord.Registry
	view     coord.View
	runs     chan *call
	members  map[string]*teller
	// slow has the members whose requests take some time, so that the others are first.
	slow map[string]bool
	// behind says by how much the caches of some are behind.
	behind map[string]time.Duration
}

// teller is a member and its connection.
type teller struct {
	*jvmmember.Member
	registry coord.Registry
	ip       string
	// told gets a signal whenever its listeners are done with a trigger that has come or gone.
	told chan struct{}
	// untold is how many of these signals are still to come.
	untold int
}

// ground is the store of a story. Everything is below the job's own node.
type ground interface {
	dial(t testing.TB, name string) coord.Registry
	// written is what each of those who have dialled has written, as texts of [write].
	written(t testing.TB) map[string][]string
}

// call is a call of the handler, which goes on until it is let.
type call struct {
	jvmmember.Execution
	let chan struct{}
}

func newStory(t testing.TB, g ground, document string, slow ...string) *story {
	s := &story{
		t: t, ground: g, document: document, runs: make(chan *call, 1000), members: map[string]*teller{}, slow: map[string]bool{},
	}
	for _, name := range slow {
		s.slow[name] = true
	}
	s.pass(4 * time.Second) // so that all start between the same two ticks
	s.operator = g.dial(t, "operator")
	view, err := s.operator.View(t.Context(), "", coord.AllLevels)
	if err != nil {
		t.Fatal(err)
	}
	s.view = view
	t.Cleanup(func() {
		for _, m := range s.members {
			m.Crash()
			// The test is over; what is left ends with the session.
			_ = m.registry.Close(context.Background())
			<-m.Done()
		}
		view.Close()
		_ = s.operator.Close(context.Background()) // as above
	})
	return s
}

// start starts a member. The digit of its address is that of its name's letter: A, A2 and A3 are
// processes on one machine.
func (s *story) start(name string, order ...jvmmember.Listener) {
	s.t.Helper()
	r := s.ground.dial(s.t, name)
	ip := fmt.Sprintf("10.9.0.%d", name[0]-'A'+1)
	delay := time.Millisecond // a store in memory takes no time at all
	if s.slow[name] {
		delay = 10 * time.Millisecond
	}
	step := func() { <-time.After(delay) }
	var lag func() time.Duration
	if d, ok := s.behind[name]; ok {
		lag = func() time.Duration { return d }
	}
	pid, told := 100+len(s.members), make(chan struct{}, 100)
	m, err := jvmmember.Start(s.t.Context(), jvmmember.Config{
		Told: func(path string) {
			if path == fmt.Sprintf("trigger/%s@-@%d", ip, pid) {
				told <- struct{}{}
			}
		},
		Step: step, Lag: lag, Registry: r, Job: "demoJob", IP: ip, PID: pid, Class: "Demo", Document: []byte(s.document),
		Release: jvmmember.V304, Work: s.work, Order: order,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.members[name] = &teller{Member: m, registry: r, ip: ip, told: told}
}

func (s *story) work(ctx context.Context, e jvmmember.Execution) error {
	c := &call{e, make(chan struct{})}
	s.runs <- c
	select {
	case <-c.let:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// begun waits until as many items have begun, and returns them as "item member" in their order.
func (s *story) begun(n int) map[string]*call {
	s.t.Helper()
	calls := make(map[string]*call)
	deadline := time.After(patience)
	for len(calls) < n {
		select {
		case c := <-s.runs:
			calls[fmt.Sprintf("%d %s", c.Item, s.name(c.Member))] = c
		case <-deadline:
			s.t.Fatalf("%d items have begun, not %d: %v; written: %v", len(calls), n, slices.Sorted(maps.Keys(calls)), s.history())
		}
	}
	return calls
}

// let lets calls end; all that are given.
func let(calls map[string]*call) {
	for _, c := range calls {
		close(c.let)
	}
}

// expect is begun with the items that it has to be.
func (s *story) expect(want ...string) map[string]*call {
	s.t.Helper()
	calls := s.begun(len(want))
	for _, w := range want {
		if calls[w] == nil {
			s.t.Fatalf("%v have begun, not %v", slices.Sorted(maps.Keys(calls)), want)
		}
	}
	return calls
}

// await waits until the tree is as it should be. What has begun is in the tree, but perhaps not in the view yet.
func (s *story) await(what string, is func(coord.Snapshot) bool) {
	s.t.Helper()
	if err := s.view.Sync(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	deadline := time.After(patience)
	for {
		changed := s.view.Changed()
		if is(s.view.Snapshot()) {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			s.t.Fatalf("waited in vain until %s", what)
		}
	}
}

// there and gone wait for nodes of the job, whose names have the letters of the members.
func (s *story) there(paths ...string) {
	s.t.Helper()
	s.await(fmt.Sprint("there is ", paths), func(now coord.Snapshot) bool {
		return !slices.ContainsFunc(paths, func(p string) bool { return !now.Exists("demoJob/" + s.real(p)) })
	})
}

func (s *story) gone(paths ...string) {
	s.t.Helper()
	s.await(fmt.Sprint("there is no ", paths), func(now coord.Snapshot) bool {
		return !slices.ContainsFunc(paths, func(p string) bool { return now.Exists("demoJob/" + s.real(p)) })
	})
}

// trigger triggers a member, which is told twice: that the node has come, and that it has gone.
func (s *story) trigger(name string) {
	s.t.Helper()
	s.members[name].untold += 2
	s.operate(coord.Create, "trigger/@"+name, "")
}

// settled waits until the listeners of a busy member are done with all that has happened: it is triggered, which it
// drops in its run. That the node is gone is not enough: only then the member looks whether it is busy.
func (s *story) settled(name string) {
	s.t.Helper()
	s.trigger(name)
	deadline := time.After(patience)
	for m := s.members[name]; m.untold > 0; m.untold-- {
		select {
		case <-m.told:
		case <-deadline:
			s.t.Fatalf("%s is not told of its trigger", name)
		}
	}
}

// quiet waits until nobody stands in a queue any more.
func (s *story) quiet() {
	s.t.Helper()
	s.await("the latches are free", func(now coord.Snapshot) bool {
		return len(now.Children("demoJob/leader/election/latch"))+len(now.Children("demoJob/leader/failover/latch")) == 0
	})
}

// pass waits until the next tick of the cron is over, if it is every so many seconds. A member that runs nothing in it
// has a second to find that out: nothing shows it.
func (s *story) pass(period time.Duration) {
	now := time.Now()
	<-time.After(now.Truncate(period).Add(period + time.Second).Sub(now))
}

// exit is SIGTERM: it waits for the run in progress.
func (s *story) exit(name string) error {
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	return s.members[name].Exit(ctx)
}

// kill is kill -9, and the end of the session.
func (s *story) kill(names ...string) {
	s.t.Helper()
	for _, name := range names {
		s.members[name].Crash()
	}
	for _, name := range names {
		if err := s.members[name].registry.Close(context.Background()); err != nil {
			s.t.Fatal(err)
		}
		<-s.members[name].Done()
	}
}

// operate writes as an operator does.
func (s *story) operate(op func(path string, value []byte) coord.Op, path, value string) {
	s.t.Helper()
	if _, err := s.operator.Commit(s.t.Context(), op("demoJob/"+s.real(path), []byte(value))); err != nil {
		s.t.Fatal(err)
	}
}

// real puts the id of the member in the place of @A.
func (s *story) real(path string) string {
	for name, m := range s.members {
		path = strings.ReplaceAll(path, "@"+name, m.ID())
		path = strings.ReplaceAll(path, "#"+name, m.ip)
	}
	return path
}

func (s *story) name(id string) string {
	for name, m := range s.members {
		if m.ID() == id {
			return name
		}
	}
	return id
}

// silent are the nodes that hold others: with Curator they come with the first of them, and some
// go by themselves.
var silent = regexp.MustCompile(`^[+~-](|leader|leader/(election|sharding|failover)|leader/(election|failover)/latch|leader/failover/items|servers|instances|sharding|trigger)$`)

var address = regexp.MustCompile(`10\.9\.0\.\d`)

var candidate = regexp.MustCompile(`latch/[^/!]+`)

// history is what each of the members has written, with @A for its id and #A for its address.
func (s *story) history() map[string][]string {
	s.t.Helper()
	// What is acknowledged is in the log; the last writes of a member may not be yet.
	if err := s.view.Sync(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	lines := make(map[string][]string)
	for name, texts := range s.ground.written(s.t) {
		for _, text := range texts {
			if text = s.plain(text); !silent.MatchString(text) {
				lines[name] = append(lines[name], strings.ReplaceAll(text, "\n", "|"))
			}
		}
		sortEnds(lines[name])
	}
	return lines
}

// plain puts the members' names in the place of ids and addresses.
func (s *story) plain(text string) string {
	for other, m := range s.members {
		text = strings.ReplaceAll(text, m.ID(), "@"+other)
	}
	text = address.ReplaceAllStringFunc(text, func(ip string) string { return "#" + string(rune('A'+ip[len(ip)-1]-'1')) })
	text = candidate.ReplaceAllString(text, "latch/*")
	if path, value, ok := strings.Cut(text, "="); ok && path[1:] == "config" {
		if text = path; value != s.document {
			text += " of somebody else"
		}
	}
	return text
}

// sortEnds sorts what goes with a session: ElasticJob's clients leave the order to the server.
func sortEnds(lines []string) {
	for from := 0; from < len(lines); from++ {
		to := from
		for to < len(lines) && lines[to][0] == 'x' {
			to++
		}
		slices.Sort(lines[from:to])
		from = to
	}
}

// compare checks that each member has written the lines of its lanes, each lane in its order: a
// lane is what one thread of the process does.
func (s *story) compare(want map[string][][]string) {
	s.t.Helper()
	got := s.history()
	for _, name := range slices.Sorted(maps.Keys(s.members)) {
		if !interleaved(got[name], want[name]) {
			s.t.Errorf("%s has written\n  %s\ninstead of\n  %s", name, strings.Join(got[name], "\n  "), laneText(want[name]))
		}
	}
}

func laneText(lanes [][]string) string {
	var texts []string
	for i, lane := range lanes {
		texts = append(texts, fmt.Sprintf("(thread %d)\n  %s", i+1, strings.Join(lane, "\n  ")))
	}
	return strings.Join(texts, "\n  ")
}

// interleaved reports whether all is a mixture of the lanes that keeps the order of each.
func interleaved(all []string, lanes [][]string) bool {
	failed := make(map[string]bool)
	var try func(n int, at []int) bool
	try = func(n int, at []int) bool {
		if n == len(all) {
			for i, lane := range lanes {
				if at[i] != len(lane) {
					return false
				}
			}
			return true
		}
		key := fmt.Sprint(at)
		if failed[key] {
			return false
		}
		for i, lane := range lanes {
			if at[i] < len(lane) && lane[at[i]] == all[n] {
				next := slices.Clone(at)
				next[i]++
				if try(n+1, next) {
					return true
				}
			}
		}
		failed[key] = true
		return false
	}
	return try(0, make([]int, len(lanes)))
}
