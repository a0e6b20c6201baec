package decide_test

import (
	"cmp"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/decide"
)

func TestWhoIsWho(t *testing.T) {
	f := given(t).members("A", "B", "C", "D").leader("A")
	f.disable("B").remove("instances/C").crash("D")
	for _, c := range []struct {
		id                              string
		registered, active, leads, dead bool
	}{
		{"A", true, true, true, false},
		{"B", true, false, false, false},
		{"C", false, false, false, false},
		{"D", false, false, false, true},
		{"", false, false, false, true},
	} {
		p := f.pass(cmp.Or(c.id, "X"))
		p.Self.ID = c.id
		if p.IsRegistered() != c.registered || p.IsActive() != c.active || p.Leads() != c.leads || p.IsDead(c.id) != c.dead {
			t.Errorf("%q: registered %v, active %v, leads %v, dead %v", c.id, p.IsRegistered(), p.IsActive(), p.Leads(), p.IsDead(c.id))
		}
	}
	p := f.pass("A")
	p.Leaving = true
	if p.IsActive() || !p.IsRegistered() {
		t.Error("one that leaves is registered, and begins nothing")
	}
	p.Self.Session++
	if p.IsRegistered() || p.Leads() {
		t.Error("the nodes of an earlier session are not this one's")
	}
	if f.remove("sessions/A").create("B", "sessions/A", "").pass("A").IsRegistered() {
		t.Error("a session's node of somebody else is not this one's")
	}
	f.put("instances/E", "").put("sessions/E", "")
	if p := f.pass("E"); !p.IsDead("E") || p.IsRegistered() {
		t.Error("nodes that no session owns stand for nobody")
	}
	for _, path := range []string{"sessions/A", "config"} {
		if given(t).members("A").remove(path).pass("A").IsActive() {
			t.Errorf("active without %s", path)
		}
	}
}

// What was begun belongs to a session, what runs to the process.
func TestForget(t *testing.T) {
	k := decide.NewWork()
	k.Runs[0], k.Ended[1], k.Waiting[2], k.Begun[3] = &decide.Run{}, 1, time.Time{}, time.Time{}
	k.Forget()
	if len(k.Runs) != 1 || len(k.Ended)+len(k.Waiting)+len(k.Begun) > 0 {
		t.Errorf("got %+v", k)
	}
}
