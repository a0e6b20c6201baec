package ops_test

import (
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/ops"
)

// A host of 500 of 10,000 jobs is disabled, and enabled again: what each of them takes. And the settings of all of
// them are read.
func BenchmarkServer(b *testing.B) {
	withCrowd(b, func(b *testing.B, reg coord.Registry) {
		server := ops.New(reg).Server("10.0.0.3")
		var read time.Duration
		jobs := 0
		for b.Loop() {
			list, err := server.Disable(b.Context())
			if err != nil || len(list) == 0 {
				b.Fatalf("%d jobs, %v", len(list), err)
			}
			if _, err := server.Enable(b.Context()); err != nil {
				b.Fatal(err)
			}
			jobs += 2 * len(list)
			b.StopTimer()
			begin := time.Now()
			for _, err := range ops.New(reg).AllSettings(b.Context()) {
				if err != nil {
					b.Fatal(err)
				}
			}
			read += time.Since(begin)
			b.StartTimer()
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(jobs), "µs/job")
		b.ReportMetric(float64(read.Milliseconds())/float64(b.N), "ms/settings")
	})
}
