package zk_test

import (
	"fmt"
	"testing"
	"time"

	zookeeper "github.com/go-zookeeper/zk"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/zk"
)

// When somebody writes very many nodes, a view still shows the rest of the tree soon, also
// when everything has to be read again. Only Sync waits for all of it.
func TestAFloodHoldsUpNobody(t *testing.T) {
	t.Parallel()
	const nodes, news = 3_600, 3
	link := newLink(t, sharedServer(t))
	r := dial(t, zk.Config{Servers: []string{link.Addr()}, RequestTimeout: time.Minute, SessionTimeout: time.Minute})
	commit(t, r, coord.Put("job/fired", nil), coord.Put("job/sharding/0/instance", nil))
	v := view(t, r, "job")

	bare := dialBare(t, sharedServer(t).Addr(), "")
	for i := range 5 {
		var ops []any
		for j := range nodes / 5 {
			ops = append(ops, &zookeeper.CreateRequest{
				Path: fmt.Sprintf("/%s/job/%d-%d", namespace(t), i, j), Acl: zookeeper.WorldACL(zookeeper.PermAll),
			})
		}
		if _, err := bare.Multi(ops...); err != nil {
			t.Fatal(err)
		}
	}
	for _, what := range []string{"news", "news after all has to be read again"} {
		t.Run(what, func(t *testing.T) {
			synced := make(chan error, 1)
			go func() { synced <- v.Sync(t.Context()) }()
			for i := range news {
				value := fmt.Append(nil, what, i)
				commit(t, r, coord.Put("job/fired", value), coord.Put("job/sharding/0/instance", value))
				awaitView(t, v, "the news", func(s coord.Snapshot) bool {
					x, _ := s.Get("job/fired")
					y, _ := s.Get("job/sharding/0/instance")
					return string(x.Value) == string(value) && string(y.Value) == string(value)
				})
			}
			select {
			case err := <-synced:
				t.Errorf("the news came after everything else; %v", err)
			default:
				if err := <-synced; err != nil {
					t.Error(err)
				}
			}
			if got, want := v.Snapshot().Len(), nodes+5; got != want {
				t.Errorf("%d nodes, want %d", got, want)
			}
		})
		link.Cut()
		link.Heal()
		if _, err := r.Get(t.Context(), "job"); err != nil { // it waits for the next link
			t.Fatal(err)
		}
	}
}
