package ops_test

import (
	"context"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/crowd"
)

// plantCrowd writes a namespace with many jobs. It returns how many nodes it has written.
func plantCrowd(tb testing.TB, reg coord.Registry, jobs int) (nodes int) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	nodes, err := crowd.Plant(ctx, reg, jobs)
	if err != nil {
		tb.Fatal(err)
	}
	return nodes
}

func commit(tb testing.TB, ctx context.Context, reg coord.Registry, ops []coord.Op) {
	tb.Helper()
	if _, err := reg.Commit(ctx, ops...); err != nil {
		tb.Fatal(err)
	}
}
