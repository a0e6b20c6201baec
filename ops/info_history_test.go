package ops_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// recorded is a history of executions, or one that hangs.
type recorded struct {
	history.Reader
	list  []history.Execution
	err   error
	hangs bool
}

func (r *recorded) Executions(ctx context.Context, f history.ExecutionFilter) (history.Page[history.Execution], error) {
	if r.hangs {
		<-ctx.Done()
		return history.Page[history.Execution]{}, context.Cause(ctx)
	}
	list := slices.DeleteFunc(slices.Clone(r.list), func(x history.Execution) bool { return x.Job != f.Job || !slices.Contains(f.Outcomes, x.Outcome) })
	return history.Page[history.Execution]{Rows: list}, r.err
}

// A history tells when what runs was begun. If it cannot, the rest is told all the same, and soon.
func TestBegunByTheHistory(t *testing.T) {
	virtual(t, func(t *testing.T, d dial) {
		begun := make(chan job.ShardingContext, 3)
		s := runs(t, d, settle(), "10.0.0.1", func(ctx context.Context, sc job.ShardingContext) error {
			begun <- sc
			<-ctx.Done()
			return context.Cause(ctx)
		})
		owns(t, s, 3)
		reader := &recorded{}
		j := ops.New(open(t, d), ops.WithHistory(reader)).Job("settle")
		if _, err := j.Trigger(t.Context(), job.TriggerRequest{Items: []int{1, 2}}); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-time.Minute)
		for range 2 {
			sc := <-begun
			x := history.Execution{Job: "settle", Item: sc.Item, TaskID: sc.TaskID, Outcome: history.OutcomeRunning, StartTime: at}
			if sc.Item == 1 {
				reader.list = append(reader.list, x)
			}
			x.TaskID, x.StartTime = "another", time.Now()
			reader.list = append(reader.list, x)
		}
		tells := func(what string, isTold bool, says string) {
			t.Helper()
			before := time.Now()
			detail, err := j.Describe(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			items, err := j.Items(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(before); took > 10*time.Second {
				t.Errorf("%s: after %v", what, took)
			}
			for _, items := range [][]ops.ItemInfo{items, detail.Items} {
				if items[0].Run != nil || items[1].Run == nil || items[1].Run.Begun.Equal(at) != isTold || items[2].Run == nil || !items[2].Run.Begun.IsZero() {
					t.Errorf("%s: items %+v", what, items)
				}
			}
			if !strings.Contains(detail.HistoryError, says) || (says == "") != (detail.HistoryError == "") {
				t.Errorf("%s: %q", what, detail.HistoryError)
			}
		}
		tells("a history", true, "")
		reader.err = errors.New("no such table")
		tells("a broken history", false, "no such table")
		reader.hangs = true
		tells("a history that hangs", false, "deadline exceeded")
	})
}
