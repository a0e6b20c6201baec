package job

import (
	"context"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// When the clock is set back, nothing waits until the moment comes again for which it was to
// wait a little: not an item that was left to its next owner, not an execution that has ended
// and waits for others, and not a configuration that was refused.
func TestNothingWaitsForAClockThatWasSetBack(t *testing.T) {
	store := memory.NewStore(memory.Options{})
	t.Cleanup(store.Close)
	reg, err := store.Dial(t.Context(), memory.Config{Namespace: "setback"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reg.Close(t.Context()) }() // the test is over
	now := begin
	cfg := Config{Name: "settle", Cron: "* * * * * ?", ShardingTotalCount: 1}
	o, err := newOptions([]Option{WithClock(func() time.Time { return now })})
	if err != nil {
		t.Fatal(err)
	}
	if err := o.workOf(cfg, HandlerFunc(func(context.Context, ShardingContext) error { return nil })); err != nil {
		t.Fatal(err)
	}
	s, err := newSettings(cfg, o, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := newController(reg, nil, s, o, 0)
	c.state = &jobtree.State{}
	waits := func() bool {
		return now.Before(c.work.Yielded[0]) || now.Before(c.lingering) || now.Before(c.reconsider)
	}
	for _, begins := range []func(){
		func() { c.work.Yielded[0] = now.Add(moveTime) },
		func() { c.lingering = now.Add(time.Second) },
		func() { c.reconsider = now.Add(reconsiderEvery) },
	} {
		begins()
		if c.world(); !waits() {
			t.Error("it does not wait at all")
		}
		now = now.Add(-time.Hour)
		if c.world(); waits() {
			t.Errorf("it waits for an hour: %v, %v, %v", c.work.Yielded, c.lingering, c.reconsider)
		}
	}
}
