package decide_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// What a pass costs while many requests wait, each of them for all items of a large job.
func BenchmarkManyRequests(b *testing.B) {
	for _, tc := range []struct{ requests, items int }{{1, 10_000}, {100, 100}, {100, 10_000}} {
		b.Run(fmt.Sprintf("requests=%d,items=%d", tc.requests, tc.items), func(b *testing.B) {
			f := given(b, func(r *decide.Rules) { r.Total = tc.items }).members("A").leader("A")
			for i := range tc.items {
				f.own(i, "A").fired(i, tick(1)).put(fmt.Sprintf("sharding/%d/running", i), "A")
			}
			p := f.pass("A")
			all := jobtree.RequestDocument{Source: "MANUAL", At: time.Unix(0, 0)}
			for i := range tc.items {
				all.Items = append(all.Items, i)
			}
			for n := range tc.requests {
				p.World.Requests = append(p.World.Requests, &jobtree.Request{ID: jobtree.NewRequestID(int64(n+1), "x"), RequestDocument: all})
			}
			w := *p.World
			b.ReportAllocs()
			for b.Loop() {
				*p.World = w
				p.Requested(p.work, false)
				p.EndRequests()
				p.RequestedHere(p.work)
			}
		})
	}
}
