package coordtest

import "testing"

// The stack of a test server's worker shows the server only while it works, not while it
// waits. The worker is not new in either state.
func TestWorkersOfTestServersAreNotLeft(t *testing.T) {
	const (
		waits = "goroutine 7 [select]:\ngo.etcd.io/etcd/pkg/v3/schedule.(*fifo).run()\ncreated by go.etcd.io/etcd/pkg/v3/schedule.NewFIFOScheduler"
		works = "goroutine 7 [running]:\ngo.etcd.io/etcd/server/v3/storage/mvcc.(*store).compact()\ngo.etcd.io/etcd/pkg/v3/schedule.(*fifo).run()"
		ours  = "goroutine 8 [select]:\ngithub.com/elasticjob-go/elasticjob/coord/etcd.(*Registry).keepSession()"
	)
	for _, before := range []string{waits, works} {
		for _, now := range []string{waits, works} {
			if left := newGoroutines(map[string]string{"7": before}, map[string]string{"7": now, "8": ours}); len(left) != 1 || left[0] != ours {
				t.Errorf("left: %q", left)
			}
		}
	}
}
