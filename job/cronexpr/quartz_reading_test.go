package cronexpr_test

import (
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job/cronexpr"
)

// What Quartz is said to make of an expression is what it has answered.
func TestQuartz(t *testing.T) {
	zones := goldenZones(t)
	// Quartz differs in these only where clocks are put forward by half an hour.
	const halfHour = "Australia/Lord_Howe"
	count := map[cronexpr.InQuartz]int{}
	for _, file := range []string{"times.txt", "differences-times.txt"} {
		for _, g := range readGoldens(t, "testdata/quartz/"+file) {
			if _, err := cronexpr.Parse(g.expr, time.UTC); err != nil {
				continue
			}
			want := cronexpr.QuartzSame
			switch g.failure {
			case "":
			case "error":
				want = cronexpr.QuartzRefuses
			default:
				want = cronexpr.QuartzOther
			}
			for _, r := range g.runs {
				at, times := r.times(t, zones[r.zone])
				for _, next := range times {
					if got := parse(t, g.expr, zones[r.zone]).Next(at); !got.Equal(next) && r.zone != halfHour {
						want = cronexpr.QuartzOther
					}
					at = next
				}
			}
			got := cronexpr.Quartz(g.expr)
			// In months that are long enough, W at the end of a month is the same.
			isCareful := got == cronexpr.QuartzOther && want == cronexpr.QuartzSame && strings.Contains(g.expr, "W ")
			if got != want && !isCareful {
				t.Errorf("%s: %v, want %v", g.expr, got, want)
			}
			count[want]++
		}
	}
	if count[cronexpr.QuartzSame] < 100 || count[cronexpr.QuartzOther] < 5 || count[cronexpr.QuartzRefuses] < 5 {
		t.Errorf("too few of one kind: %v", count)
	}
	for _, expr := range []string{"", "*/5 * * * *", "@every 1m30s", "@hourly", "0 0 0 ? jan-6 2", "0 0 0 ? * 2#1,4#3 2027"} {
		if got := cronexpr.Quartz(expr); got != cronexpr.QuartzRefuses {
			t.Errorf("%q: %v", expr, got)
		}
	}
}
