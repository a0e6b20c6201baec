package migrate_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
)

// single counts reads of single nodes.
type single struct {
	coord.Registry
	reads atomic.Int64
}

func (s *single) Get(ctx context.Context, path string) (coord.Node, error) {
	s.reads.Add(1)
	return s.Registry.Get(ctx, path)
}

// A plan does not ask for the nodes of many jobs one by one.
func TestPlanOfManyJobsReadsThemTogether(t *testing.T) {
	const jobs, most = 200, 20
	_, a := inMemory(t)
	_, b := inMemory(t)
	from, to := &single{Registry: open(t, a)}, &single{Registry: open(t, b)}
	for i := range jobs {
		name := fmt.Sprintf("job-%d", i)
		put(t, from, map[string]string{name: "impl", name + "/config": "jobName: " + name + "\nshardingTotalCount: 1\n"})
	}
	p, err := between(from, to).Plan(t.Context())
	if err != nil || len(p.Jobs) != jobs || len(p.Refused()) > 0 {
		t.Fatal(len(p.Jobs), p.Refused(), err)
	}
	if reads := from.reads.Load() + to.reads.Load(); reads > most {
		t.Errorf("%d nodes were read one by one, want at most %d", reads, most)
	}
}
