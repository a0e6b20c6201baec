package etcd

import (
	"slices"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord/internal/statetable"
)

var (
	watchStates = []string{"watchNone", "watchCreating", "watchLive", "watchMoving", "watchEnded"}
	watchEvents = []string{"onRequest", "onConfirm", "onMove", "onInvalidate", "onStop"}
	readStates  = []string{"readIdle", "readQueued", "readWaiting", "readLoading"}
	readEvents  = []string{"onDue", "onTake", "onLoad", "onRead", "onFail", "onGiveUp"}
)

// The tables in the comments of the two states are what their functions do.
func TestLifecycleTables(t *testing.T) {
	statetable.Check(t, "lifecycle.go", "watchState", watchStates, watchEvents, func(s, e int) int { return int(watchState(s).next(watchEvent(e))) })
	statetable.Check(t, "lifecycle.go", "readState", readStates, readEvents, func(s, e int) int { return int(readState(s).next(readEvent(e))) })
}

// What the other methods rely on holds in every state that events can lead to.
func TestLifecycleInvariants(t *testing.T) {
	reached := []lifecycle{{}}
	for i := 0; i < len(reached); i++ {
		at := reached[i]
		if at.complete && !at.covered() {
			t.Errorf("%+v is complete, but not covered", at)
		}
		for e := range len(watchEvents) + len(readEvents) {
			next := at
			if e < len(watchEvents) {
				next.onWatch(watchEvent(e))
			} else {
				next.onRead(readEvent(e - len(watchEvents)))
			}
			if at.ended() && !next.ended() {
				t.Errorf("%+v has ended, and goes on as %+v", at, next)
			}
			if next.complete && !at.complete && at.read != readLoading {
				t.Errorf("%+v becomes complete without a read", at)
			}
			if !slices.Contains(reached, next) {
				reached = append(reached, next)
			}
		}
	}
	if all := len(watchStates) * len(readStates); len(reached) <= all {
		t.Errorf("%d states were reached, and there are %d without complete", len(reached), all)
	}
}
