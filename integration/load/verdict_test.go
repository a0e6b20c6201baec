package main

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/elasticjob-go/elasticjob/job"
)

// second is a time of the tests.
func second(n float64) time.Time { return time.Unix(1_000_000, int64(math.Round(n*1e3))*1e6) }

// ran is a run that ended, of a tick at a whole second.
func ran(source job.Source, job, item int, tick, begun float64) entry {
	return entry{kind: aRun, source: source, job: job, item: item, tick: second(tick), begun: second(begun), ended: second(begun + 0.1)}
}

func unended(e entry) entry {
	e.ended = time.Time{}
	return e
}

func TestJudge(t *testing.T) {
	const normal, misfire, failover = job.SourceNormal, job.SourceMisfire, job.SourceFailover
	o := options{Jobs: 1, Items: 2}
	ticks := []time.Time{second(1), second(2)}
	all := []entry{ran(normal, 0, 0, 1, 1), ran(normal, 0, 1, 1, 1), ran(normal, 0, 0, 2, 2), ran(normal, 0, 1, 2, 2)}
	for name, c := range map[string]struct {
		workers []noted
		want    runs
	}{
		"nothing":          {nil, runs{Expected: 4, Missed: 4}},
		"all":              {[]noted{{entries: all}}, runs{Expected: 4, Executions: 4}},
		"all, of two":      {[]noted{{entries: all[:1]}, {entries: all[1:]}}, runs{Expected: 4, Executions: 4}},
		"one missed":       {[]noted{{entries: all[1:]}}, runs{Expected: 4, Executions: 3, Missed: 1}},
		"twice in one":     {[]noted{{entries: append(all[:4:4], all[0])}}, runs{Expected: 4, Executions: 5, Twice: 1}},
		"twice in two":     {[]noted{{entries: all}, {entries: all[2:3]}}, runs{Expected: 4, Executions: 5, Twice: 1}},
		"thrice":           {[]noted{{entries: all}, {entries: all[2:3]}, {entries: all[2:3]}}, runs{Expected: 4, Executions: 6, Twice: 2}},
		"made up":          {[]noted{{entries: append(all[1:2:2], all[3], ran(misfire, 0, 0, 2, 3))}}, runs{Expected: 4, Executions: 3, Missed: 1, MadeUp: 1}},
		"made up, twice":   {[]noted{{entries: append(all[:4:4], ran(misfire, 0, 0, 2, 3))}}, runs{Expected: 4, Executions: 5, MadeUp: 1, Twice: 1}},
		"failed over":      {[]noted{{entries: []entry{all[0], all[1], all[2], unended(all[3])}}, {entries: []entry{ran(failover, 0, 1, 2, 5)}}}, runs{Expected: 4, Executions: 5, FailedOver: 1, Unended: 1}},
		"only failed over": {[]noted{{entries: append(all[:3:3], ran(failover, 0, 1, 2, 5))}}, runs{Expected: 4, Executions: 4, FailedOver: 1, Missed: 1}},
		"no such tick":     {[]noted{{entries: append(all[:4:4], ran(normal, 0, 0, 3, 3))}}, runs{Expected: 4, Executions: 5, Stray: 1}},
		"no such item":     {[]noted{{entries: append(all[:4:4], ran(normal, 0, 2, 1, 3))}}, runs{Expected: 4, Executions: 5, Stray: 1}},
		"no run":           {[]noted{{entries: append(all[:4:4], entry{kind: aChange, begun: second(1)})}}, runs{Expected: 4, Executions: 4}},
	} {
		if diff := cmp.Diff(c.want, judge(o, ticks, c.workers)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestLateness(t *testing.T) {
	workers := []noted{
		{entries: []entry{ran(job.SourceNormal, 0, 0, 1, 1.010), ran(job.SourceNormal, 0, 1, 1, 1.020), ran(job.SourceFailover, 0, 1, 1, 9)}},
		{entries: []entry{ran(job.SourceMisfire, 0, 2, 1, 1.005), ran(job.SourceNormal, 1, 0, 1, 1.5), {kind: aChange, begun: second(3)}}},
	}
	if got, want := spreadOf(lateness(workers)), (spread{P50: 10, P90: 500, P99: 500, Max: 500}); got != want {
		t.Errorf("late %v, not %v", got, want)
	}
	first, last := edges(workers)
	if got, want := spreadOf(first), (spread{P50: 5, P90: 500, P99: 500, Max: 500}); got != want {
		t.Errorf("first %v, not %v", got, want)
	}
	if got, want := spreadOf(last), (spread{P50: 20, P90: 500, P99: 500, Max: 500}); got != want {
		t.Errorf("last %v, not %v", got, want)
	}
}

func TestOrphans(t *testing.T) {
	cut := func(item int) entry { return unended(ran(job.SourceNormal, 0, item, 1, 1)) }
	again := func(item int, at float64) entry { return ran(job.SourceFailover, 0, item, 1, at) }
	killed := noted{entries: []entry{cut(0), cut(1), ran(job.SourceNormal, 0, 2, 1, 1)}, killed: second(2)}
	for name, c := range map[string]struct {
		others []entry
		want   failover
	}{
		"none again": {nil, failover{Orphans: 2, Lost: 2}},
		"one again":  {[]entry{again(0, 5)}, failover{Orphans: 2, Lost: 1, Delay: spread{3000, 3000, 3000, 3000}}},
		"both again": {[]entry{again(0, 5), again(1, 6)}, failover{Orphans: 2, Delay: spread{3000, 4000, 4000, 4000}}},
		"not those":  {[]entry{again(2, 5), cut(3), ran(job.SourceNormal, 0, 0, 1, 5)}, failover{Orphans: 2, Lost: 2}},
	} {
		if diff := cmp.Diff(c.want, orphans([]noted{{entries: c.others}, killed})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestSettled(t *testing.T) {
	has := func(job, items int, at float64) entry {
		return entry{kind: aChange, job: job, items: items, begun: second(at)}
	}
	stay := []bool{true, true}
	for name, c := range map[string]struct {
		workers     [][]entry
		stays       []bool
		first, last time.Time
		even        bool
	}{
		"assigned again":    {[][]entry{{has(0, 5, 1), has(0, 3, 4)}, {has(0, 2, 5)}}, stay, second(4), second(5), true},
		"not evenly":        {[][]entry{{has(0, 5, 1), has(0, 4, 4)}, {has(0, 1, 5)}}, stay, second(4), second(5), false},
		"an item of nobody": {[][]entry{{has(0, 5, 1), has(0, 2, 4)}, {has(0, 2, 5)}}, stay, second(4), second(5), false},
		"nothing changes":   {[][]entry{{has(0, 3, 1)}, {has(0, 2, 2)}}, stay, time.Time{}, time.Time{}, true},
		"it leaves":         {[][]entry{{has(0, 3, 1), has(0, 5, 4)}, {has(0, 2, 2), has(0, 0, 3.5)}}, []bool{true, false}, second(4), second(4), true},
		"shut down":         {[][]entry{{has(0, 3, 1), has(0, 0, 10)}, {has(0, 2, 4), has(0, 0, 11)}}, stay, second(4), second(4), true},
	} {
		var workers []noted
		for _, entries := range c.workers {
			workers = append(workers, noted{entries: entries})
		}
		first, last, even := settled(options{Jobs: 1, Items: 5}, workers, c.stays, second(3), second(10))
		if !first.Equal(c.first) || !last.Equal(c.last) || even != c.even {
			t.Errorf("%s: %v to %v, even: %v", name, first, last, even)
		}
	}
}

func TestBroken(t *testing.T) {
	for name, c := range map[string]struct {
		report report
		want   string
	}{
		"nothing":         {report{Runs: runs{Executions: 3, Expected: 3, MadeUp: 1}}, ""},
		"missed":          {report{Runs: runs{Missed: 2}}, "2 executions missed"},
		"missed by kill":  {report{Options: options{Event: eventKill}, Runs: runs{Missed: 2}, Event: &event{Even: true}}, ""},
		"twice":           {report{Runs: runs{Twice: 1}}, "1 executions twice"},
		"stray":           {report{Runs: runs{Stray: 1}}, "1 executions of no tick"},
		"not even":        {report{Event: &event{}}, "items not assigned evenly again"},
		"not even, at it": {report{Options: options{Work: time.Second}, Event: &event{}}, ""},
		"orphans":         {report{Event: &event{Even: true, Failover: &failover{Lost: 1}}}, "1 orphans not run again"},
	} {
		if got := c.report.broken(); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
