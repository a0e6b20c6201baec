package world

import (
	"context"
	"testing"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/trace"
)

// Node returns what runs jobs of a test in this process, in a namespace of the world's etcd, with the operations on that. What
// they do in Namespace is in its history. Shut it down before the test ends.
func (w *World) Node(t testing.TB, namespace string) (*job.Node, *ops.Ops) {
	t.Helper()
	w.Start(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("a node in %s: %v", namespace, err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	atEnd := func(end func(context.Context) error) {
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), startTime)
			defer cancel()
			if err := end(ctx); err != nil {
				t.Errorf("a node in %s: %v", namespace, err)
			}
		})
	}
	reg, err := dial(ctx, w.crew.orders.Endpoints, namespace)
	must(err)
	atEnd(reg.Close)
	past, err := openHistory(w.crew.orders.History)
	must(err)
	atEnd(func(context.Context) error { return past.Close() })
	recorder, err := trace.New(past, trace.Options{})
	must(err)
	atEnd(recorder.Close)
	c := job.NodeConfig{Options: []job.Option{job.WithIP("127.0.0.31")}}
	if namespace == Namespace {
		c.Options = append(c.Options, recorder.Option())
	}
	node, err := job.NewNode(reg, c)
	must(err)
	return node, ops.New(reg).By("setup")
}
