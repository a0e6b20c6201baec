package world

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// earth is one for all tests.
var earth = New()

func TestMain(m *testing.M) {
	Work()
	code := m.Run()
	if err := earth.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	http.DefaultClient.CloseIdleConnections()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// What the jobs are for happens.
func TestJobs(t *testing.T) {
	past := pastOf(t)
	for what, f := range map[string]history.ExecutionFilter{
		"a success":      {Job: Quick, Outcomes: []history.Outcome{history.OutcomeOf(job.OutcomeOK)}},
		"a failure":      {Job: Failing, Items: []int{1}, Outcomes: history.Failures()},
		"a script":       {Job: Script, Outcomes: []history.Outcome{history.OutcomeOf(job.OutcomeOK)}},
		"one under way":  {Job: Long},
		"another worker": {Job: Quick, IP: Address(2)},
	} {
		x := await(t, past, what, f)
		if what == "a failure" && x.Error != Failure {
			t.Errorf("it has failed by %q", x.Error)
		}
		if what == "a script" {
			lines, err := past.Lines(t.Context(), x.ID, 0, 10)
			if err != nil || len(lines) != 2 || !strings.HasPrefix(lines[0].Text, "cleaning folder") {
				t.Errorf("its lines: %v, %v", lines, err)
			}
		}
	}
	info, err := earth.Ops(t).Job(Orphan).Info(t.Context())
	if err != nil || info.Status != ops.JobNeverStarted {
		t.Errorf("nobody has it, and it is %v, %v", info.Status, err)
	}
}

func TestConsole(t *testing.T) {
	url := earth.Start(t)
	for _, name := range []string{Admin, Operator, Viewer} {
		answer, err := http.Post(url+"/api/v1/login", "application/json", strings.NewReader(fmt.Sprintf(`{"name":%q,"password":%q}`, name, Password)))
		if err != nil {
			t.Fatal(err)
		}
		if answer.Body.Close(); answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", name, answer.Status)
		}
	}
}

func TestJob(t *testing.T) {
	t.Run("there", func(t *testing.T) {
		earth.Job(t, Count, job.Config{Name: "op-mine", ShardingTotalCount: 1})
		if _, err := earth.Ops(t).Job("op-mine").Trigger(t.Context(), job.TriggerRequest{}); err != nil {
			t.Fatal(err)
		}
		await(t, pastOf(t), "what was triggered", history.ExecutionFilter{Job: "op-mine", Source: job.SourceManual})
	})
	if info, err := earth.Ops(t).Job("op-mine").Info(t.Context()); err == nil {
		t.Errorf("it is still there: %v", info)
	}
}

// Who kills a worker sees others do its work.
func TestKill(t *testing.T) {
	o := earth.Ops(t)
	victim := -1
	for victim < 0 {
		items, err := o.Job(Long).Items(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range items {
			for number := range Workers {
				if item.Run != nil && item.Server == Address(number) {
					victim = number
				}
			}
		}
		sleep.For(t.Context(), 50*time.Millisecond)
	}
	killed := time.Now()
	earth.Kill(t, victim)
	x := await(t, pastOf(t), "a failover", history.ExecutionFilter{Job: Long, Source: job.SourceFailover})
	if strings.HasPrefix(x.Instance, Address(victim)+"@") {
		t.Errorf("%s has been killed, and does it", x.Instance)
	}
	t.Logf("a failover after %v", time.Since(killed))
	earth.Restart(t, victim)
}

func pastOf(t *testing.T) history.Reader {
	t.Helper()
	past, err := openHistory(earth.history(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := past.Close(); err != nil {
			t.Error(err)
		}
	})
	return past
}

func (w *World) history(t *testing.T) string {
	t.Helper()
	w.Start(t)
	return w.crew.orders.History
}

// await waits until the history has an execution.
func await(t *testing.T, past history.Reader, what string, f history.ExecutionFilter) history.Execution {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	f.Limit = 1
	for {
		page, err := past.Executions(ctx, f)
		if err == nil && len(page.Rows) > 0 {
			return page.Rows[0]
		}
		if !sleep.For(ctx, 50*time.Millisecond) {
			t.Fatalf("the history does not come to have %s: %v", what, err)
		}
	}
}

// All processes end, and what was written goes, with Close.
func TestCloseLeavesNothing(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	w := New()
	w.Start(t)
	workers := w.crew.processes
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	for number, p := range workers {
		if p.cmd.ProcessState == nil {
			t.Errorf("worker %d has not ended", number)
		}
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}
