package ops_test

import (
	"errors"
	"slices"
	"testing"

	jobdump "github.com/elasticjob-go/elasticjob/job/dump"
	"github.com/elasticjob-go/elasticjob/ops"
)

// A job is dumped from the store.
func TestDump(t *testing.T) {
	onEveryStore(t, func(t *testing.T, d dial) {
		s := runs(t, d, settle(), "10.0.0.1", nothing)
		owns(t, s, 3)
		all := ops.New(open(t, d))
		got, err := all.Job("settle").Dump(t.Context())
		hasOwner := slices.ContainsFunc(got.Nodes, func(n jobdump.Node) bool { return n.Path == "settle/sharding/2/instance" })
		if err != nil || !hasOwner {
			t.Errorf("%+v, %v", got, err)
		}
		if _, err := all.Job("other").Dump(t.Context()); !errors.Is(err, ops.ErrNoJob) {
			t.Errorf("no job: %v", err)
		}
	})
}
