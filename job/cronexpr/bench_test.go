package cronexpr_test

import (
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job/cronexpr"
)

var speeds = []struct{ name, expr string }{
	{"every second", "* * * * * ?"},
	{"every 5 seconds", "0/5 * * * * ?"},
	{"every 15 minutes", "0 0/15 * * * ?"},
	{"daily", "0 0 2 * * ?"},
	{"weekdays", "0 0/30 9-17 ? * MON-FRI"},
	{"nearest weekday", "0 0 9 15W * ?"},
	{"last Friday", "0 15 10 ? * 6L"},
	// A few times in the hundred years, far from now.
	{"sparse: 29 February 2096", "0 0 0 29 2 ? 2096"},
	{"sparse: five Sundays in February", "0 0 0 ? 2 1#5"},
	{"sparse: L-28 in February", "0 0 0 L-28 2 ?"},
	{"sparse: none left", "0 0 0 ? 2 1#5 1970-2004"},
	// Every time from 2007 on is skipped by the clocks of New York.
	{"sparse: skipped every year", "* * 2 ? 3 1#2"},
}

func BenchmarkNext(b *testing.B) { benchmark(b, (*cronexpr.Schedule).Next) }
func BenchmarkPrev(b *testing.B) { benchmark(b, (*cronexpr.Schedule).Prev) }

func benchmark(b *testing.B, ask func(*cronexpr.Schedule, time.Time) time.Time) {
	at := time.Date(2026, 7, 15, 10, 30, 17, 500, time.UTC)
	for _, loc := range []*time.Location{shanghai(), newYork(b)} {
		for _, speed := range speeds {
			b.Run(loc.String()+"/"+speed.name, func(b *testing.B) {
				s := parse(b, speed.expr, loc)
				b.ReportAllocs()
				for b.Loop() {
					ask(s, at)
				}
			})
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for _, loc := range []*time.Location{shanghai(), newYork(b)} {
		b.Run(loc.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				parse(b, "0 0/30 9-17 ? * MON-FRI", loc)
			}
		})
	}
}

func BenchmarkString(b *testing.B) {
	s := parse(b, "0 0/30 9-17 ? * MON-FRI", time.UTC)
	for b.Loop() {
		_ = s.String()
	}
}
