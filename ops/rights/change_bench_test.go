package rights_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
	"github.com/elasticjob-go/elasticjob/ops/rights"
)

// One round adds a user to 10,000 jobs with 11 nodes each, and removes the former one: five walks
// over 110,001 nodes, and two changes of each list.
//
//	go test ./ops/rights -run '^$' -bench Change -benchtime 1x
func BenchmarkChange(b *testing.B) {
	server := zkserver.Start(b, zkserver.Config{Optimize: true})
	digests := []string{"jobs:a", "jobs:b"}
	ids := make([]zk.Identity, 2)
	for i, digest := range digests {
		var err error
		if ids[i], err = zk.DigestIdentity(digest); err != nil {
			b.Fatal(err)
		}
	}
	dial := func(cfg zk.Config) *zk.Registry {
		cfg.Servers, cfg.Namespace = []string{server.Addr()}, "shop"
		reg, err := zk.Dial(b.Context(), cfg)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			if err := reg.Close(context.Background()); err != nil {
				b.Error(err)
			}
		})
		return reg
	}
	former := dial(zk.Config{Digest: digests[0]})
	const jobs, items = 10_000, 4
	for n := range jobs {
		ops := []coord.Op{coord.Create(fmt.Sprintf("job-%d", n), nil), coord.Create(fmt.Sprintf("job-%d/config", n), []byte("cron: 0 * * * * ?"))}
		for i := range items {
			ops = append(ops, coord.Create(fmt.Sprintf("job-%d/sharding/%d/instance", n, i), []byte("10.0.0.1@-@1")))
		}
		if _, err := former.Commit(b.Context(), ops...); err != nil {
			b.Fatal(err)
		}
	}
	lists := dial(zk.Config{Digest: digests[1], OtherDigests: digests[:1]})
	from, to := ids[0], ids[1]
	for b.Loop() {
		change := rights.Change{From: from, To: to}
		added, err := change.Add(b.Context(), lists, rights.Options{})
		if err != nil {
			b.Fatal(err)
		}
		removed, err := change.Remove(b.Context(), lists, rights.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(added.Nodes), "nodes")
		b.ReportMetric(float64(added.Changed+removed.Changed)/b.Elapsed().Seconds(), "lists/s")
		from, to = to, from
	}
}
