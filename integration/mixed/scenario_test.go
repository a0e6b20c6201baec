package mixed

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// scenario is what happens to a job.
type scenario struct {
	name    string
	setting setting
	// times is how many seeds it takes at least to show a race; 1 if it is left out.
	times int
	// begin starts the first members.
	begin func(*cluster)
	// leads is who must lead when the window begins; empty if that does not matter.
	leads kind
	// then is what happens from the first tick that is counted. Its first tick is the next one.
	then func(*cluster)
	// allowed is what may go wrong per run at most; nothing but what is orphaned, late, or overlaps among JVM
	// members, if it is left out.
	allowed count
}

// play runs the scenarios of a row, and checks what was counted: first with caches that are never behind, so that all
// that goes wrong shows, and then with caches that are, and beside that JVM members alone, if what they made of it can
// excuse something. Rows run beside each other, and beside the scenarios in real time, which mostly wait.
func play(t *testing.T, row string, list []scenario) {
	t.Parallel()
	for _, s := range list {
		s.setting.alone = *alone
		t.Run(s.name, func(t *testing.T) {
			s.playOnce(t, row, func(_ uint64, c count) bool { return *alone || s.allows(c) })
			if *alone || s.setting.lag > 0 {
				return
			}
			s.setting.behind = true
			beside := s
			beside.setting.alone = true
			s.playOnce(t, row+", caches behind", func(seed uint64, c count) bool {
				return s.allowsBeside(c, count{}) || s.allowsBeside(c, beside.playSeed(t, seed))
			})
		})
	}
}

// playOnce runs a scenario with each seed.
func (s scenario) playOnce(t *testing.T, row string, isRight func(seed uint64, c count) bool) {
	t.Helper()
	var all count
	for n := range uint64(max(*seeds, s.times)) {
		c := s.playSeed(t, *seed+n)
		all.add(c)
		if !isRight(*seed+n, c) {
			s.tell(t, *seed+n, c)
		}
	}
	t.Logf("%s", titles)
	t.Logf("figures | %s | %s | %s", title(row), s.name, &all)
}

// playSeed runs a scenario with one seed, in virtual time.
func (s scenario) playSeed(t *testing.T, seed uint64) (c count) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { c = s.run(t, newSimulated(seed), seed) })
	return c
}

// run lets it happen once.
func (s scenario) run(t testing.TB, st store, seed uint64) count {
	c := newCluster(t, st, s.setting, seed)
	defer c.end()
	s.begin(c)
	c.ticks(c.settling(), 1500*time.Millisecond)
	if leader := c.leader(); s.leads != "" && !c.setting.alone && (leader == nil || leader.kind != s.leads) {
		t.Fatalf("seed %d: %v leads, and not a %s member\n%s", seed, leader, s.leads, c.story())
	}
	return c.window(s.then)
}

// window counts what becomes of the ticks from the next one on, while something happens.
func (c *cluster) window(then func(*cluster)) count {
	from, end := c.next(), c.ahead(c.setting.ticks+1)
	if then != nil {
		then(c)
	}
	if time.Now().After(end) {
		c.t.Fatalf("seed %d: what happens takes longer than the window, which ends at %s", c.seed, end.Format(clock))
	}
	c.wait(time.Until(end))
	// What was missed at the end is made up, and what was cut short runs again.
	c.ticks(c.settling()-1, 0)
	before := c.left()
	c.wait(2 * max(c.setting.longest, c.setting.ofGo))
	c.ticks(1, -50*time.Millisecond)
	left := c.left()
	maps.DeleteFunc(left, func(path string, modified int64) bool { return before[path] != modified })
	n := c.ledger.count(from, end, c.setting.failover)
	n.leftBy = len(left)
	if len(left) > 0 {
		n.stories = append([]string{fmt.Sprintf("left in the tree: %q", slices.Sorted(maps.Keys(left)))}, n.stories...)
	}
	n.story = c.story()
	return n
}

// allows reports whether no more went wrong than is allowed.
func (s scenario) allows(c count) bool {
	a := s.allowed
	return c.missed-c.orphaned <= a.missed && c.doubled <= a.doubled && c.overlapping-c.amongJVMs <= a.overlapping &&
		c.unrecovered <= a.unrecovered && c.twice <= a.twice && c.wrong <= a.wrong && c.leftBy <= a.leftBy
}

// allowsBeside is allows where the caches of JVM members are behind. beside is what JVM members alone made of it. One
// race more is allowed: a deal that JVM members read too late, so that each item is missed or begun twice, or a crash
// that they hear of too late, so that what has run again is put up once more. But nothing of a Go instance may
// overlap for that.
func (s scenario) allowsBeside(c, beside count) bool {
	total := s.setting.withDefaults().total
	s.allowed.missed += beside.missed - beside.orphaned + total
	s.allowed.doubled += beside.doubled + total
	s.allowed.unrecovered += beside.unrecovered
	s.allowed.twice += beside.twice + total
	s.allowed.leftBy += beside.leftBy
	return s.allows(c)
}

// check fails the test if more went wrong than is allowed.
func (s scenario) check(t testing.TB, seed uint64, c count) {
	t.Helper()
	if !s.allows(c) {
		s.tell(t, seed, c)
	}
}

// tell fails the test because of what went wrong.
func (s scenario) tell(t testing.TB, seed uint64, c count) {
	t.Helper()
	stories := slices.Clone(c.stories)
	const most = 20
	if len(stories) > most {
		stories = append(stories[:most], fmt.Sprintf("… and %d more", len(c.stories)-most))
	}
	t.Errorf("seed %d:\n%s\n%s\n%s\n%s", seed, titles, &c, strings.Join(stories, "\n"), c.story)
}

// settling is how many ticks the job has before and after what is counted; fewer in real time.
func (c *cluster) settling() int {
	if c.store.isSimulated() {
		return 4
	}
	return 2
}

// title names a row in the figures.
func title(row string) string {
	if *alone {
		return row + ", JVM alone"
	}
	return row
}
