package zk_test

import (
	"testing"
	"time"

	zookeeper "github.com/go-zookeeper/zk"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/zk"
)

// awaitClock waits until the clock is as wanted: nothing tells when it changes.
func awaitClock(t testing.TB, r *zk.Registry, what string, wanted func(coord.Clock) bool) coord.Clock {
	t.Helper()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	late := time.After(2 * time.Minute)
	for {
		if c := r.Clock(); wanted(c) {
			return c
		}
		select {
		case <-again.C:
		case <-late:
			t.Fatalf("waited in vain for a clock that is %s; it is known %v, its error %v", what, r.Clock().Known(), r.Clock().Err())
		}
	}
}

// Once in each session the clocks are compared, by one write.
func TestClockIsComparedOnceASession(t *testing.T) {
	r := dial(t, zk.Config{})
	c := awaitClock(t, r, "known", coord.Clock.Known)
	if ahead := c.Ahead(time.Now()); ahead != 0 || c.Err() != nil {
		t.Errorf("ahead by %v on the same machine; %v", ahead, c.Err())
	}
	if off := time.Since(c.Now()).Abs(); off > 10*time.Second { // the comparison takes time, on a machine that stands still, too
		t.Errorf("the clocks differ by %v", off)
	}
	s := session(t, r)
	r.LoseSession()
	await(t, s.Context().Done(), "the session to be lost")
	session(t, r)
	awaitClock(t, r, "compared again", func(again coord.Clock) bool { return again != c && again.Err() == nil })
	n, err := r.Get(t.Context(), coord.ClockPath)
	if err != nil || n.Version > 2 { // it is made, and then written; one write may not have been answered
		t.Errorf("the clock's node: %+v, %v", n, err)
	}
}

// A slow connection makes the comparison less certain, but not wrong.
func TestClockBehindALongWay(t *testing.T) {
	t.Parallel()
	link := newLink(t, sharedServer(t))
	link.Delay(300 * time.Millisecond)
	r := dial(t, zk.Config{Servers: []string{link.Addr()}})
	c := awaitClock(t, r, "known", coord.Clock.Known)
	if ahead := c.Ahead(time.Now()); ahead != 0 {
		t.Errorf("ahead by %v on the same machine", ahead)
	}
}

// If the registry may not write the clock's node, Clock says so, and everything else works.
func TestClockThatMayNotBeWritten(t *testing.T) {
	first := dial(t, zk.Config{})
	awaitClock(t, first, "known", coord.Clock.Known) // its node is there
	other := dialBare(t, sharedServer(t).Addr(), "other:secret")
	if _, err := other.SetACL("/"+namespace(t)+"/"+coord.ClockPath, zookeeper.AuthACL(zookeeper.PermAll), -1); err != nil {
		t.Fatal(err)
	}
	r := dial(t, zk.Config{})
	c := awaitClock(t, r, "refused", func(c coord.Clock) bool { return c.Err() != nil })
	wantErr(t, c.Err(), coord.ErrDenied, coord.ClockPath)
	if c.Known() {
		t.Error("it is known")
	}
	commit(t, r, coord.Put("a", nil))
	if _, err := other.SetACL("/"+namespace(t)+"/"+coord.ClockPath, zookeeper.WorldACL(zookeeper.PermAll), -1); err != nil {
		t.Fatal(err)
	}
	awaitClock(t, r, "known", func(c coord.Clock) bool { return c.Known() && c.Err() == nil })
}
