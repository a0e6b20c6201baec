package jobfile_test

import (
	"fmt"
	"testing"

	"github.com/elasticjob-go/elasticjob/jobfile"
)

// What a reload reads, at least.
func BenchmarkRead(b *testing.B) {
	for _, jobs := range []int{1, 500} {
		b.Run(fmt.Sprintf("%d jobs", jobs), func(b *testing.B) {
			var lines []string
			for i := range jobs {
				lines = append(lines, fmt.Sprintf("job-%d: {jobParameter: p, failover: true, retry: {attempts: 3}}", i))
			}
			paths := write(b, memoryFile+every(lines...))
			o := options(nil)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := jobfile.Read(o, paths...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
