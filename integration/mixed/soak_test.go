package mixed

import (
	"fmt"
	"testing"
	"time"
)

// TestSoak lets random things happen to members of both kinds, and the same to JVM members alone.
func TestSoak(t *testing.T) {
	s := setting{cron: "0/10 * * * * ?", ticks: 30, work: 20 * ms, longest: 3 * time.Second, failover: true, behind: true}
	// A JVM member that is busy at a tick makes it up for all items that it has afterwards, and one that
	// repeats what was cut short runs nothing else. JVM members alone miss up to 44 item-ticks in the hour, and begin 17 twice.
	allowed := count{missed: 6, doubled: 4}
	if *full {
		s.ticks = 360
		allowed = count{missed: 20, doubled: 12}
	}
	for _, kinds := range []struct {
		name    string
		kinds   [2]kind
		allowed count
	}{
		{name: "JVM and Go", kinds: [2]kind{jvm, golang}, allowed: allowed},
		{name: "JVM alone", kinds: [2]kind{jvm, jvm}, allowed: everything},
	} {
		t.Run(kinds.name, func(t *testing.T) {
			soak := &soak{kinds: kinds.kinds}
			sc := scenario{name: kinds.name, setting: s, begin: soak.begin, then: soak.storm, allowed: kinds.allowed}
			c := sc.playSeed(t, *seed)
			t.Logf("%s", titles)
			t.Logf("figures | soak, seed %d | %s | %s", *seed, kinds.name, &c)
			t.Logf("what happened: %v", soak.happened)
			sc.check(t, *seed, c)
		})
	}
}

// everything is allowed.
var everything = count{missed: 1e6, doubled: 1e6, overlapping: 1e6, unrecovered: 1e6, twice: 1e6, wrong: 1e6, leftBy: 1e6}

// soak is a number of members of two kinds, half of each, to which something happens every now and
// then.
type soak struct {
	kinds    [2]kind
	lives    int
	disabled *process
	happened map[string]int
}

func (s *soak) begin(c *cluster) {
	s.happened = map[string]int{}
	for n := range 4 {
		s.join(c, n%2)
	}
}

func (s *soak) join(c *cluster, half int) {
	s.lives++
	c.several(fmt.Sprintf("%s%d-%d", map[kind]string{golang: "g", jvm: "j"}[s.kinds[half]], half, s.lives))
}

// of returns the members of a half.
func (s *soak) of(c *cluster, half int) []*process {
	var list []*process
	for _, p := range c.alive() {
		if p.name[1] == "01"[half] {
			list = append(list, p)
		}
	}
	return list
}

// storm goes on until the window of the cluster ends.
func (s *soak) storm(c *cluster) {
	for end := c.ahead(c.setting.ticks - 8); ; { // who leaves may need a while
		c.wait(time.Duration(c.random.ExpFloat64() * float64(15*time.Second)))
		if time.Now().After(end) {
			break
		}
		s.happen(c)
	}
	if s.disabled != nil {
		c.enable(s.disabled)
	}
}

// happen lets one thing happen. Each half keeps an enabled member.
func (s *soak) happen(c *cluster) {
	half := c.random.IntN(2)
	members := s.of(c, half)
	victim := members[c.random.IntN(len(members))]
	is := func(what string) { s.happened[fmt.Sprintf("%s: %s", s.kinds[half], what)]++ }
	switch n := c.random.IntN(10); {
	case s.disabled != nil && n < 4:
		is("enabled")
		if !s.disabled.isGone() {
			c.enable(s.disabled)
		}
		s.disabled = nil
	case len(members) < 3 && n < 6:
		is("joins")
		s.join(c, half)
	case len(members) == 1 || victim == s.disabled || s.disabled != nil && len(members) < 3:
	case n < 5:
		is("leaves")
		victim.leave()
	case n < 8:
		is("is killed")
		c.ticks(1, time.Duration(c.random.Int64N(int64(c.setting.longest)))) // while something runs
		victim.kill()
	case s.disabled == nil:
		is("is disabled")
		s.disabled = victim
		c.disable(victim)
	}
}
