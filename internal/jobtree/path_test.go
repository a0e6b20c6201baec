package jobtree_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

func TestPaths(t *testing.T) {
	const job = jobtree.Job("settle")
	const id = "192.0.2.2@-@7-c0ffee"
	tick := time.Date(2026, 11, 20, 23, 14, 28, 0, time.UTC)
	for _, tc := range []struct{ got, want string }{
		{job.Root(), "settle"},
		{job.Config(), "settle/config"},

		{job.Server("192.0.2.2"), "settle/servers/192.0.2.2"},

		{job.Instance(id), "settle/instances/" + id},
		{job.Session(id), "settle/sessions/" + id},
		{job.Schedule(), "settle/schedule"},

		{job.Trigger(id), "settle/trigger/" + id},
		{job.Sharding(), "settle/sharding"},
		{job.Item(10), "settle/sharding/10"},
		{job.ItemInstance(1), "settle/sharding/1/instance"},
		{job.Running(1), "settle/sharding/1/running"},
		{job.Fired(1), "settle/sharding/1/fired"},
		{job.Misfire(1), "settle/sharding/1/misfire"},
		{job.ItemDisabled(1), "settle/sharding/1/disabled"},
		{job.Failover(1), "settle/sharding/1/failover"},
		{job.Failovering(1), "settle/sharding/1/failovering"},
		{job.Completion(1), "settle/sharding/1/completed"},

		{job.LeaderLatch(), "settle/leader/election/latch"},
		{job.LeaderInstance(), "settle/leader/election/instance"},
		{job.Necessary(), "settle/leader/sharding/necessary"},
		{job.Processing(), "settle/leader/sharding/processing"},
		{job.FailoverItems(), "settle/leader/failover/items"},
		{job.FailoverItem(0), "settle/leader/failover/items/0"},
		{job.Guarantees(), "settle/guarantee"},
		{job.Guarantee(tick), "settle/guarantee/2026-11-20T23:14:28.000Z"},
		{job.GuaranteeOpen(tick), "settle/guarantee/2026-11-20T23:14:28.000Z/open"},
		{job.GuaranteeItem(tick, 2), "settle/guarantee/2026-11-20T23:14:28.000Z/2"},
	} {
		if tc.got != tc.want {
			t.Errorf("got %s, want %s", tc.got, tc.want)
		}
		if err := coord.ValidatePath(tc.got); err != nil {
			t.Error(err)
		}
	}
}

func TestParseItem(t *testing.T) {
	for _, name := range []string{"", "01", "00", "-1", "+1", " 1", "1 ", "1.0", "1e2", "x", "0x1", "１", "100000", "99999999999999999999"} {
		if item, ok := jobtree.ParseItem(name); ok {
			t.Errorf("%q is item %d, want none", name, item)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.IntRange(0, jobtree.MaxItems-1).Draw(t, "item")
		if got, ok := jobtree.ParseItem(fmt.Sprint(want)); !ok || got != want {
			t.Fatalf("got %d, %v", got, ok)
		}
	})
}
