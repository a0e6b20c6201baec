package etcd

import (
	"testing"

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

// What was read already is not applied over it, and only what a response proves counts
// as applied: its events, or the header of one without any.
func TestFollowsFromWhatWasLoaded(t *testing.T) {
	var got []int64
	f := newFollower(nil, "test", keyRange{}, nil, func(events []*clientv3.Event) error {
		for _, e := range events {
			got = append(got, e.Kv.ModRevision)
		}
		return nil
	})
	f.begun(10, 0, func() {})
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
		if at, _ := f.position(); at != step.applied {
			t.Errorf("position %d, want %d", at, step.applied)
		}
	}
	if want := []int64{11, 11, 12, 16}; len(got) != len(want) || got[0] != want[0] || got[3] != want[3] {
		t.Errorf("applied %v, want %v", got, want)
	}
}

// A watch is given up when it was asked and is still not as far as it should have been
// then; not while it is only behind, and never while the store stands still.
func TestSilentWatchIsGivenUp(t *testing.T) {
	restarted := 0
	f := newFollower(nil, "test", keyRange{}, nil, nil)
	look := func(revision int64, ask bool, restarts int) {
		t.Helper()
		if _, got := f.isBehind(revision); got != ask || restarted != restarts {
			t.Errorf("at revision %d: asked %v, restarted %d times; want %v, %d", revision, got, restarted, ask, restarts)
		}
	}
	look(5, false, 0) // not watching yet
	f.begun(10, 0, func() { restarted++ })
	look(10, false, 0)
	look(12, true, 0)
	f.advance(12) // it answered
	look(20, true, 0)
	f.advance(30) // an event came
	look(30, false, 0)
	look(31, true, 0)
	look(31, false, 1) // no answer
	f.ended()
	look(40, false, 1)
	f.begun(40, 0, func() { restarted++ })
	look(41, true, 1)
}
