package jobtest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtest"
)

// Each check has histories that it accepts, and histories that make it fail.
func TestPromises(t *testing.T) {
	var (
		ticks = []time.Time{second(10), second(20)}
		once  = func(t testing.TB, x jobtest.Executions) { t.Helper(); jobtest.EachTickOnce(t, x, ticks, 2) }
		full  = []ran{{item: 0, tick: 10, end: 12}, {item: 1, tick: 10, end: 12}, {item: 0, tick: 20, end: 22}, {item: 1, tick: 20, end: 22}}
		with  = func(more ...ran) []ran { return append(append([]ran(nil), full...), more...) }
	)
	for _, tc := range []struct {
		name  string
		check func(testing.TB, jobtest.Executions)
		runs  []ran
		says  []string // none: it is accepted
	}{
		{"EachTickOnce", once, full, nil},
		{"EachTickOnce, made up", once, append([]ran{{item: 1, tick: 20, begin: 25, end: 26, source: job.SourceMisfire}}, full[:3]...), nil},
		{"EachTickOnce, and requests", once, with(ran{tick: 10, begin: 30, end: 31, source: job.SourceRetry, isRequested: true}, ran{tick: 13, end: 14, source: job.SourceManual, isRequested: true}), nil},
		{"EachTickOnce, and what came before and after", once, with(ran{tick: 5, end: 6}, ran{tick: 30}), nil},
		{"EachTickOnce, one is missing", once, full[:3], []string{"item 1: 0 executions for the tick 2026-03-01 00:00:20 UTC, want 1"}},
		{"EachTickOnce, all are missing", once, nil, []string{"item 0: 0 executions", "item 1: 0 executions", "nothing has happened"}},
		{"EachTickOnce, one came twice", once, with(ran{tick: 20, begin: 24, end: 25}), []string{"item 0: 2 executions for the tick 2026-03-01 00:00:20 UTC"}},
		{"EachTickOnce, one was run again", once, with(ran{tick: 20, begin: 24, end: 25, source: job.SourceFailover}), []string{"item 0: 2 executions"}},
		{"EachTickOnce, one between", once, with(ran{tick: 15, end: 16}), []string{"item 0 has run for 2026-03-01 00:00:15 UTC, which is none"}},
		{"EachTickOnce, one item too many", once, with(ran{item: 2, tick: 20, end: 21}), []string{"item 2 has run for"}},
		{"EachTickOnce, two jobs", once, with(ran{tick: 20, end: 21, of: "report"}), []string{"several jobs (report, settle)"}},

		{"EachTickOnce, of no ticks", func(t testing.TB, x jobtest.Executions) { t.Helper(); jobtest.EachTickOnce(t, x, nil, 2) }, full, []string{"0 ticks and 2 items"}},

		{"NoTickTwice", jobtest.NoTickTwice, with(ran{tick: 20, begin: 24, end: 25, source: job.SourceFailover}, ran{tick: 20, begin: 26, source: job.SourceRetry}), nil},
		{"NoTickTwice, two jobs", jobtest.NoTickTwice, with(ran{tick: 20, of: "report"}), nil},
		{"NoTickTwice, it was", jobtest.NoTickTwice, with(ran{tick: 20, begin: 24, end: 25}), []string{"item 0 was started for 2026-03-01 00:00:20 UTC with token 20, and again with token 24"}},
		{"NoTickTwice, made up although it was begun", jobtest.NoTickTwice, with(ran{tick: 20, begin: 24, end: 25, source: job.SourceMisfire}), []string{"settle: item 0"}},
		{"NoTickTwice, of requests alone", jobtest.NoTickTwice, []ran{{tick: 20, source: job.SourceBackfill}}, []string{"requests, which do not count, so there is nothing to check"}},
		{"NoTickTwice, of nothing", jobtest.NoTickTwice, nil, []string{"nothing to check"}},

		{"NoOverlap", jobtest.NoOverlap, with(ran{tick: 30}), nil},
		{"NoOverlap, one ends when the next begins", jobtest.NoOverlap, []ran{{tick: 10, end: 20}, {tick: 20}}, nil},
		{"NoOverlap, two jobs", jobtest.NoOverlap, []ran{{tick: 10, end: 20}, {tick: 15, of: "report"}}, nil},
		{"NoOverlap, by a second", jobtest.NoOverlap, []ran{{tick: 10, end: 21}, {tick: 20, end: 22}}, []string{"item 0 was begun with token 20 at 2026-03-01 00:00:20.000, while token 10 was at work"}},
		{"NoOverlap, with one that runs", jobtest.NoOverlap, []ran{{tick: 10}, {tick: 20, end: 22}}, []string{"item 0 was begun"}},
		{"NoOverlap, with one before the last", jobtest.NoOverlap, []ran{{tick: 10, end: 40}, {tick: 20, end: 22}, {tick: 30}}, []string{"token 20 at", "token 30 at"}},
		{"NoOverlap, of nothing", jobtest.NoOverlap, nil, []string{"nothing to check"}},

		{"TokensGrow", jobtest.TokensGrow, full, nil},
		{"TokensGrow, of another item", jobtest.TokensGrow, []ran{{tick: 10, token: 7}, {item: 1, tick: 20, token: 7}}, nil},
		{"TokensGrow, the same", jobtest.TokensGrow, []ran{{tick: 10, token: 7}, {tick: 20, token: 7}}, []string{"item 0 was begun with token 7 after 7"}},
		{"TokensGrow, smaller", jobtest.TokensGrow, []ran{{tick: 10, token: 7}, {tick: 20, token: 6}}, []string{"token 6 after 7"}},
		{"TokensGrow, of nothing", jobtest.TokensGrow, nil, []string{"nothing to check"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			x := newScript().ran(tc.runs...).rec.Executions()
			failure := failuresOf(t, func(t testing.TB) { tc.check(t, x) })
			if (failure == "") != (len(tc.says) == 0) {
				t.Fatalf("the failure: %q", failure)
			}
			if check, _, _ := strings.Cut(tc.name, ","); failure != "" && !strings.HasPrefix(failure, "jobtest: "+check+": ") {
				t.Errorf("the failure does not begin with the check: %s", failure)
			}
			for _, says := range tc.says {
				if !strings.Contains(failure, says) || !strings.Contains(failure, "history:") {
					t.Errorf("the failure does not say %q and the history: %s", says, failure)
				}
			}
		})
	}
}

// A check that finds very much says the first of it.
func TestViolationsAreBounded(t *testing.T) {
	var runs []ran
	for i := range 100 {
		runs = append(runs, ran{tick: 10, begin: 10 + i})
	}
	failure := failureOf(t, func(t testing.TB) { jobtest.NoTickTwice(t, newScript().ran(runs...).rec.Executions()) })
	if strings.Count(failure, "was started for") != 10 || !strings.Contains(failure, "and 89 more") {
		t.Error(failure)
	}
}
