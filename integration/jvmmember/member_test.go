package jvmmember_test

import (
	"context"
	"maps"
	"testing"
	"testing/synctest"
	"time"
)

func check(t *testing.T, what string, got map[string]int, want ...string) {
	t.Helper()
	wanted := make(map[string]int)
	for _, w := range want {
		wanted[w]++
	}
	if !maps.Equal(got, wanted) {
		t.Errorf("%s: got %v, want %v", what, got, wanted)
	}
}

// Two members share the items in ElasticJob's order, a survivor takes over, and an exit waits.
func TestAMemberLivesAsElasticJobDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		time.Sleep(10 * time.Second) // not at a tick
		a := w.start(1, base)
		b := w.start(2, base)
		if got := w.value("settle/leader/election/instance"); got != a.ID() {
			t.Errorf("the leader is %q", got)
		}
		time.Sleep(52 * time.Second)
		check(t, "first tick", w.ran(), "0 10.0.0.2@-@2 NORMAL_TRIGGER", "2 10.0.0.2@-@2 NORMAL_TRIGGER", "1 10.0.0.1@-@1 NORMAL_TRIGGER")
		time.Sleep(59 * time.Second)
		w.ran()
		b.kill()
		time.Sleep(20 * time.Second)
		check(t, "failover", w.ran(), "0 10.0.0.1@-@1 FAILOVER", "2 10.0.0.1@-@1 FAILOVER")
		time.Sleep(40 * time.Second)
		check(t, "next tick", w.ran(), "0 10.0.0.1@-@1 NORMAL_TRIGGER", "1 10.0.0.1@-@1 NORMAL_TRIGGER", "2 10.0.0.1@-@1 NORMAL_TRIGGER")
		if err := a.Exit(context.Background()); err != nil {
			t.Error(err)
		}
		<-a.Done()
		for _, gone := range []string{"settle/instances/" + a.ID(), "settle/leader/election/instance", "settle/sharding/0/running"} {
			if w.has(gone) {
				t.Errorf("%s is still there", gone)
			}
		}
	})
}
