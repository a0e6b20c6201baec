package failed_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtest"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/failed"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// town is a cluster with one job that ticks at each whole hour, of 3 items, and its past.
type town struct {
	*jobtest.Cluster
	t       *testing.T
	isWell  func(sc job.ShardingContext) bool // nil: all is
	hasPast bool
	from    time.Time
}

const name = "settle"

func run(t *testing.T, test func(*testing.T, *town)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &town{Cluster: jobtest.NewCluster(t), t: t, hasPast: true, from: time.Now()}
		w.Process("10.0.0.1").Schedule(job.Config{Name: name, Cron: "0 0 * * * ?", TimeZone: "UTC", ShardingTotalCount: 3}, job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
			if w.isWell == nil || w.isWell(sc) {
				return nil
			}
			return errors.New("the bank is closed")
		}))
		test(t, w)
	})
}

// hour passes the next tick, at which some items fail, and returns it.
func (w *town) hour(fail ...int) time.Time {
	w.isWell = func(sc job.ShardingContext) bool { return !slices.Contains(fail, sc.Item) }
	at := time.Now().Truncate(time.Hour).Add(time.Hour)
	w.AdvanceTo(at.Add(time.Minute))
	w.isWell = nil
	return at
}

func (w *town) query() failed.Query {
	w.t.Helper()
	list, err := w.Ops().Jobs(w.t.Context(), ops.JobsQuery{})
	if err != nil {
		w.t.Fatal(err)
	}
	q := failed.Query{From: w.from, Jobs: list.Jobs}
	if w.hasPast {
		q.History = past{runs: w.Executions()}
	}
	return q
}

// said is what a report says of each run: its state, item and hour.
func (w *town) said() string {
	w.t.Helper()
	r, err := failed.List(w.t.Context(), w.Ops(), w.query())
	if err != nil {
		w.t.Fatal(err)
	}
	var list []string
	for _, j := range r.Jobs {
		for _, run := range j.Runs {
			if run.Error != "the bank is closed" || run.Execution == "" || run.Begun.IsZero() || j.Job != name {
				w.t.Errorf("%+v", run)
			}
			list = append(list, fmt.Sprintf("%s %d@%s", run.State, run.Item, run.Tick.Format("15")))
		}
		list = append(list, fmt.Sprint(j.Failed, j.Older, j.Succeeded))
	}
	return strings.Join(list, ", ")
}

// retry runs failures again, and returns what was begun and left.
func (w *town) retry(r failed.Request) string {
	w.t.Helper()
	r.Query = w.query()
	result, err := failed.Retry(w.t.Context(), w.Ops().Together(), r)
	if err != nil {
		w.t.Fatal(err)
	}
	var list []string
	for _, p := range slices.Concat(result.Begun, result.Left) {
		what := string(p.Why)
		switch {
		case p.Request != "" && p.IsBackfill:
			what = "backfill"
		case p.Request != "":
			what = "retry"
		}
		at := ""
		if n := len(p.Items); p.Failures != n && p.Why == "" || p.Failures < n {
			w.t.Errorf("%+v", p)
		}
		if !p.Tick.IsZero() {
			at = "@" + p.Tick.Format("15")
		}
		list = append(list, fmt.Sprintf("%s %v%s%s", what, p.Items, at, p.Error))
	}
	return strings.Join(list, ", ")
}

func (w *town) want(what, got, want string) {
	w.t.Helper()
	if got != want {
		w.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// Of each item at each tick it is told what has become of it; a retry runs again what still fails, and older ticks if that
// is wanted.
func TestFailuresAreRetried(t *testing.T) {
	run(t, func(t *testing.T, w *town) {
		w.hour(0, 1)
		two := w.hour(0)
		w.hour(1, 2)
		w.want("in the tree", strings.Join(strings.Split(w.said(), ", ")[:2], ", "), "FAILED 1@03, FAILED 2@03")
		w.want("all", w.said(), "FAILED 1@03, FAILED 2@03, OLDER 0@02, OLDER 0@01, OLDER 1@01, 2 3 0")
		w.hasPast = false
		w.want("without a history", w.said(), "FAILED 1@03, FAILED 2@03, 2 0 0")
		w.hasPast = true

		w.want("chosen", w.retry(failed.Request{Choices: []failed.Choice{{Job: name, Runs: []failed.Chosen{{Item: 0, Tick: two}}}}}), "backfill [0]@02")
		w.Advance(time.Minute)
		w.want("one of them is run", w.said(), "FAILED 1@03, FAILED 2@03, OLDER 0@01, OLDER 1@01, SUCCEEDED 0@02, 2 2 1")
		w.want("another job", w.retry(failed.Request{Choices: []failed.Choice{{Job: "pay-out"}}}), "")
		w.want("what still fails", w.retry(failed.Request{}), "retry [1 2]@03, older [0 1]")
		w.Advance(time.Minute)
		w.want("no more", w.retry(failed.Request{}), "older [0 1]")
		w.want("older ones", w.retry(failed.Request{Older: true}), "backfill [0 1]@01")
		w.Advance(time.Minute)
		w.want("in the end", w.said(), "SUCCEEDED 1@03, SUCCEEDED 2@03, SUCCEEDED 0@02, SUCCEEDED 0@01, SUCCEEDED 1@01, 0 0 5")
		w.from = time.Now()
		w.want("since then", w.said(), "")
	})
}

// A retry that is made once more runs nothing again, also while the history does not have yet what ran, and if two make it at once.
func TestRetryTwice(t *testing.T) {
	run(t, func(t *testing.T, w *town) {
		one := w.hour(0, 1)
		w.hour()
		q := w.query() // of this moment
		for range 2 {
			var both sync.WaitGroup
			for range 2 {
				both.Go(func() {
					if _, err := failed.Retry(t.Context(), w.Ops(), failed.Request{Query: q, Older: true}); err != nil {
						t.Error(err)
					}
				})
			}
			both.Wait()
			w.Advance(time.Minute)
		}
		w.Executions().Tick(one).Source(job.SourceBackfill).Require(t, 2)
	})
}

// What has a reason not to run is left, and the reason is told.
func TestWhatIsLeft(t *testing.T) {
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		why     failed.Why
		make    func(*testing.T, *town, *ops.Job)
		request failed.Request
		want    string
	}{
		{"paused", func(t *testing.T, _ *town, j *ops.Job) {
			_, err := j.Pause(t.Context(), ops.PauseRequest{})
			must(t, err)
		}, failed.Request{}, "paused [0 1]"},
		{"an item is disabled", func(t *testing.T, _ *town, j *ops.Job) { must(t, j.DisableItems(t.Context(), 0)) }, failed.Request{}, "retry [1]@01, disabled [0]"},
		{"all servers are disabled", func(t *testing.T, _ *town, j *ops.Job) { must(t, j.DisableServers(t.Context())) }, failed.Request{}, "disabled [0 1]"},
		{"nobody is there", func(t *testing.T, w *town, j *ops.Job) {
			_, err := j.Shutdown(t.Context(), ops.ShutdownRequest{All: true})
			must(t, err)
			w.Advance(time.Minute)
		}, failed.Request{}, "no-instance [0 1]"},
		{"one runs already", func(t *testing.T, w *town, j *ops.Job) {
			w.isWell = func(job.ShardingContext) bool { time.Sleep(time.Minute); return true }
			_, err := j.Retry(t.Context(), ops.RetryRequest{Items: []int{1}})
			must(t, err)
			w.Advance(time.Second)
		}, failed.Request{}, "retry [0]@01, waiting [1]"},
		{"he may not", func(*testing.T, *town, *ops.Job) {}, failed.Request{MaySteer: func(job string) bool { return job != name }}, "denied [0 1]"},
		{"it has succeeded", func(t *testing.T, w *town, j *ops.Job) {
			_, err := j.Retry(t.Context(), ops.RetryRequest{})
			must(t, err)
			w.Advance(time.Minute)
		}, failed.Request{Older: true}, ""},
	} {
		t.Run(string(tt.why), func(t *testing.T) {
			run(t, func(t *testing.T, w *town) {
				w.hour(0, 1)
				tt.make(t, w, w.Ops().Job(name))
				w.want("left", w.retry(tt.request), tt.want)
				w.Advance(2 * time.Minute) // nothing runs any more
			})
		})
	}
}

// A job of which more ticks have failed than one retry takes is retried part by part; and no more is listed than the bounds
// say, while all is counted.
func TestManyFailures(t *testing.T) {
	run(t, func(t *testing.T, w *town) {
		for range 60 {
			w.hour(0, 1)
		}
		w.hour()
		r, err := failed.List(t.Context(), w.Ops(), w.query())
		if err != nil || len(r.Jobs) != 1 || r.Jobs[0].Older != 120 || len(r.Jobs[0].Runs) != 100 {
			t.Errorf("%+v, %v", r, err)
		}
		for i, want := range []int{50, 10, 0} {
			result, err := failed.Retry(t.Context(), w.Ops(), failed.Request{Query: w.query(), Older: true})
			if err != nil || len(result.Begun) != want || i == 0 && (len(result.Left) != 1 || result.Left[0].Why != failed.TooMany || result.Left[0].Failures != 20) {
				t.Errorf("%d have begun, want %d; %d are left; %v", len(result.Begun), want, len(result.Left), err)
			}
			w.Advance(time.Minute)
		}
	})
}

// A history that has others' failures, and more than are read, says so.
func TestHistoryOfOthers(t *testing.T) {
	run(t, func(t *testing.T, w *town) {
		at := w.hour()
		q := w.query()
		secret := history.Execution{Job: "secret", StartTime: at, Outcome: "FAILED"}
		q.MayPast = func(job string) bool { return job != "secret" }
		q.History = past{more: []history.Execution{{Job: "gone", StartTime: at, Outcome: "FAILED"}, secret}}
		r, err := failed.List(t.Context(), w.Ops(), q)
		if err != nil || len(r.Jobs) != 0 || !slices.Equal(r.Elsewhere, []string{"gone"}) || !r.Since.IsZero() {
			t.Errorf("%+v, %v", r, err)
		}
		q.History = past{more: slices.Repeat([]history.Execution{secret}, 10_001)}
		if r, err := failed.List(t.Context(), w.Ops(), q); err != nil || !r.Since.Equal(at) || len(r.Elsewhere) > 0 {
			t.Errorf("%+v, %v", r, err)
		}
		// The items of this namespace have begun no such tick.
		q.History = past{more: []history.Execution{{Job: name, Source: job.SourceNormal, ScheduledTime: at.Add(time.Hour), StartTime: at, Outcome: "FAILED"}}}
		if r, err := failed.List(t.Context(), w.Ops(), q); err != nil || len(r.Jobs) != 0 {
			t.Errorf("%+v, %v", r, err)
		}
		// A JVM tells no tick: what it has done last counts.
		q.History = past{more: []history.Execution{{Job: name, Item: 1, StartTime: at, Outcome: "OK"}, {Job: name, Item: 1, StartTime: w.from, Outcome: "FAILED"}, {Job: name, Item: 2, StartTime: w.from, Outcome: "FAILED"}}}
		if r, err := failed.List(t.Context(), w.Ops(), q); err != nil || len(r.Jobs) != 1 || r.Jobs[0].Failed != 1 || r.Jobs[0].Older != 1 {
			t.Errorf("%+v, %v", r, err)
		}
		if result, err := failed.Retry(t.Context(), w.Ops(), failed.Request{Query: q}); err != nil || len(result.Begun) > 0 || len(result.Left) != 2 || result.Left[0].Why != failed.IsOlder && result.Left[1].Why != failed.IsOlder {
			t.Errorf("%+v, %v", result, err)
		}
	})
}

// A history that is away keeps nobody from what fails now.
func TestHistoryIsAway(t *testing.T) {
	run(t, func(t *testing.T, w *town) {
		w.hour(1)
		q := w.query()
		q.History = away{}
		r, err := failed.List(t.Context(), w.Ops(), q)
		if err != nil || r.HistoryError != "no database" || len(r.Jobs) != 1 || r.Jobs[0].Failed != 1 {
			t.Errorf("%+v, %v", r, err)
		}
		if result, err := failed.Retry(t.Context(), w.Ops(), failed.Request{Query: q}); err != nil || len(result.Begun) != 1 || !result.More {
			t.Errorf("%+v, %v", result, err)
		}
	})
}

// away is a history that does not answer.
type away struct{ history.Reader }

func (away) Executions(context.Context, history.ExecutionFilter) (history.Page[history.Execution], error) {
	return history.Page[history.Execution]{}, errors.New("no database")
}

// past is a history of what the cluster has seen, and of more.
type past struct {
	history.Reader // what nobody asks here
	runs           jobtest.Executions
	more           []history.Execution
}

func (p past) all() []history.Execution {
	list := slices.Clone(p.more)
	for _, x := range p.runs.List() {
		row := history.Execution{ID: x.TaskID, Job: x.JobName, Item: x.Item, Source: x.Source, ScheduledTime: x.ScheduledTime, StartTime: x.Began, Outcome: history.OutcomeOf(x.Outcome)}
		if x.Err != nil {
			row.Error = x.Err.Error()
		}
		list = append(list, row)
	}
	slices.SortStableFunc(list, func(a, b history.Execution) int { return b.StartTime.Compare(a.StartTime) })
	return list
}

func (p past) Executions(_ context.Context, f history.ExecutionFilter) (page history.Page[history.Execution], err error) {
	rows := slices.DeleteFunc(p.all(), func(x history.Execution) bool {
		return f.Job != "" && x.Job != f.Job || f.Source != 0 && x.Source != f.Source || !slices.Contains(f.Outcomes, x.Outcome) || x.StartTime.Before(f.From)
	})
	begin := 0
	_, _ = fmt.Sscan(string(f.After), &begin) // none is the beginning
	page.Rows = rows[begin:min(begin+f.Limit, len(rows))]
	if end := begin + f.Limit; end < len(rows) {
		page.Next = history.Cursor(fmt.Sprint(end))
	}
	return page, nil
}

func (p past) Latest(_ context.Context, job string, _, _ int) (rows []history.Execution, err error) {
	for _, x := range p.all() {
		if x.Job == job && !slices.ContainsFunc(rows, func(y history.Execution) bool { return x.Item == y.Item }) {
			rows = append(rows, x)
		}
	}
	return rows, nil
}
