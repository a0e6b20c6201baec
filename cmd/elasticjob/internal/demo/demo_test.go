//go:build unix

package demo_test

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/demo"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/script"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// workerArgument makes this program a worker.
const workerArgument = "demo-worker"

func TestMain(m *testing.M) {
	supervisor := script.Supervise()
	if len(os.Args) == 3 && os.Args[1] == workerArgument {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		if err := demo.Work(ctx, os.Args[2], os.Stdin, supervisor); err != nil {
			slog.Error("worker", "error", err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// What the demo promises to show is there: jobs that run, one that nobody runs, a failover, a day of history.
func TestDemo(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d, err := demo.Start(ctx, demo.Options{
		Worker: []string{self, workerArgument}, Rest: 16 * time.Second, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	defer func() {
		if err := d.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	if err != nil {
		t.Fatal(err)
	}
	shows := show{t: t, ops: d.Ops, began: time.Now(), seen: map[string]ops.JobInfo{}}
	again := map[string]bool{} // jobs that could not be triggered
	for update, err := range d.Ops.Watch(ctx, time.Second) {
		if err != nil {
			t.Fatalf("%v; missing: %v, not triggered: %v", err, shows.missing(context.Background()), again)
		}
		for _, j := range update.Jobs {
			if isSoon := slices.Contains(soon, j.Name); isSoon && j.Instances > 0 && (shows.seen[j.Name].Instances == 0 || again[j.Name]) {
				_, err := d.Ops.Job(j.Name).Trigger(ctx, job.TriggerRequest{})
				again[j.Name] = err != nil // the machine stood still, and all workers have lost their sessions, which last 3 s
			}
		}
		shows.jobs(update)
		if len(shows.missing(ctx)) == 0 {
			return
		}
	}
}

// long is the job in whose middle workers are killed.
const long = "rebuild-search-index"

// soon are jobs that are triggered, because their next tick may be far.
var soon = []string{long, "ask-partners", "clean-temporary-files", "import-orders"}

// show is what was seen.
type show struct {
	t     *testing.T
	ops   *ops.Ops
	began time.Time
	seen  map[string]ops.JobInfo
}

func (s *show) jobs(u ops.Update) {
	for _, j := range u.Jobs {
		s.seen[j.Name] = j
	}
}

// missing says what has not been seen yet.
func (s *show) missing(ctx context.Context) (what []string) {
	past, err := s.ops.History()
	if err != nil {
		s.t.Fatal(err)
	}
	for name, f := range map[string]history.ExecutionFilter{
		"yesterday":           {Job: "settle-payments", To: s.began.Add(-20 * time.Hour)},
		"yesterday's failure": {Job: "send-reminders", To: s.began.Add(-20 * time.Hour), Outcomes: history.Failures()},
		"the last hour":       {Job: "ask-partners", From: s.began.Add(-time.Hour), To: s.began},
		"a script":            {Job: "clean-temporary-files", From: s.began, Outcomes: []history.Outcome{history.OutcomeOf(job.OutcomeOK)}},
		"a request":           {Job: "ask-partners", From: s.began, Outcomes: []history.Outcome{history.OutcomeOf(job.OutcomeOK)}},
		"a stream":            {Job: "import-orders", From: s.began, Outcomes: []history.Outcome{history.OutcomeOf(job.OutcomeOK)}},
		"a failover":          {Job: long, From: s.began, Source: job.SourceFailover},
	} {
		f.Limit = 1
		page, err := past.Executions(ctx, f)
		if err != nil {
			s.t.Fatal(err)
		}
		if len(page.Rows) == 0 {
			what = append(what, name)
		}
	}
	for name, is := range map[string]bool{
		"a job that is fine":        s.seen["settle-payments"].Status == ops.JobOK,
		"a job that nobody runs":    s.seen["old-billing"].Status == ops.JobNeverStarted,
		"a job that is paused":      !s.seen["archive-invoices"].Paused.Since.IsZero(),
		"a job of each instance":    s.seen["refresh-caches"].Broadcast,
		"a job without a schedule":  s.seen["rebuild-everything"].Instances > 0,
		"a job that has a calendar": s.seen["nightly-report"].Calendars == 1,
	} {
		if !is {
			what = append(what, name)
		}
	}
	return what
}
