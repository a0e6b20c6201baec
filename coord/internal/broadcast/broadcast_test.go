package broadcast_test

import (
	"testing"

	"github.com/elasticjob-go/elasticjob/coord/internal/broadcast"
)

func TestSignal(t *testing.T) {
	fired := func(c <-chan struct{}) bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
	var s broadcast.Signal
	s.Fire() // for nobody
	if s.IsAwaited() {
		t.Error("awaited, but nobody asked")
	}
	first, second := s.Next(), s.Next()
	if fired(first) || !s.IsAwaited() {
		t.Error("fired before a change")
	}
	s.Fire()
	if !fired(first) || !fired(second) || s.IsAwaited() {
		t.Error("not everybody was woken")
	}
	third := s.Next()
	if fired(third) {
		t.Error("fired for the change before")
	}
	s.Close()
	s.Fire()
	s.Close()
	if !fired(third) || !fired(s.Next()) {
		t.Error("somebody waits after the end")
	}
}
