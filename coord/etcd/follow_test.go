package etcd

import (
	"testing"
	"testing/synctest"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

func response(header int64, revisions ...int64) *clientv3.WatchResponse {
	r := &clientv3.WatchResponse{Header: &pb.ResponseHeader{Revision: header}}
	for _, revision := range revisions {
		r.Events = append(r.Events, &clientv3.Event{Kv: &mvccpb.KeyValue{ModRevision: revision}})
	}
	return r
}

// Events that the load contained already are not applied again. Only what a response proves
// counts as applied: its events, or its header if it has none.
func TestFollowsFromWhatWasLoaded(t *testing.T) {
	var got []int64
	f := newFollower(&Registry{}, "test", keyRange{}, nil, func(events []*clientv3.Event) error {
		for _, e := range events {
			got = append(got, e.Kv.ModRevision)
		}
		return nil
	})
	f.begun(10, 0, 0, func() {})
	applied := int64(10)
	for _, step := range []struct {
		response *clientv3.WatchResponse
		applied  int64
	}{
		{response(12, 8, 9, 10), 10},
		{response(20, 10, 11, 11, 12), 12}, // one of several batches: its header is ahead
		{response(20, 12), 12},             // once more
		{response(15), 15},
		{response(14), 15},
		{response(16, 16), 16},
	} {
		var err error
		if applied, err = f.follow(step.response, applied); err != nil || applied != step.applied {
			t.Errorf("applied up to %d, %v; want %d", applied, err, step.applied)
		}
		if at := f.position(); at != step.applied {
			t.Errorf("position %d, want %d", at, step.applied)
		}
	}
	if want := []int64{11, 11, 12, 16}; len(got) != len(want) || got[0] != want[0] || got[3] != want[3] {
		t.Errorf("applied %v, want %v", got, want)
	}
}

// A watch is silent when it brings nothing for longer than the patience although the store's
// revision has grown; not while it is only behind, and not while the revision stays.
func TestSilentWatchIsGivenUp(t *testing.T) {
	const patience = 5 * time.Second
	synctest.Test(t, func(t *testing.T) {
		f := newFollower(&Registry{}, "test", keyRange{}, nil, nil)
		look := func(revision int64, want watchState) {
			t.Helper()
			if _, got := f.inspect(revision, patience); got != want {
				t.Errorf("at revision %d: state %d, want %d", revision, got, want)
			}
			time.Sleep(3 * time.Second)
		}
		look(5, watchFine) // it does not watch yet
		f.begun(10, 0, 0, func() {})
		for range 5 {
			look(10, watchFine)
		}
		look(12, watchBehind)
		f.advance(12) // it answered
		for revision := range int64(5) {
			look(20+revision, watchBehind)
			f.advance(15 + revision) // it is slow, but alive
		}
		look(30, watchBehind)
		look(31, watchBehind)
		look(32, watchSilent)
		f.ended()
		look(40, watchFine)
		f.begun(40, 0, 0, func() {})
		look(41, watchBehind)
	})
}

// After the store was put back, what a watch of the old state still brings does not count,
// and neither does what was read of the old state.
func TestNothingOfTheOldStateCounts(t *testing.T) {
	r := &Registry{}
	f := newFollower(r, "test", keyRange{}, nil, nil)
	restarted := false
	f.begun(100, 0, 0, func() { restarted = true })
	r.sighting.epoch++
	f.forget()
	f.advance(101)
	if f.begun(102, 0, 0, func() {}) {
		t.Error("what was read of the old state was taken")
	}
	if at := f.position(); at != 0 || !restarted {
		t.Errorf("position %d, restarted %v", at, restarted)
	}
	if !f.begun(50, 1, 1, func() {}) || f.position() != 50 {
		t.Errorf("position %d after the new state was read", f.position())
	}
}
