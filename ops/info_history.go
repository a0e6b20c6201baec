package ops

import (
	"context"
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// historyTime bounds how long a description waits for the history.
const historyTime = 2 * time.Second

// addBegun adds to items when what runs was begun, which only the history knows. It asks for the
// newest 1,000 executions that run. Without a history nothing happens.
func (j *Job) addBegun(ctx context.Context, items []ItemInfo) error {
	runs := map[string]*RunInfo{}
	for i := range items {
		if run := items[i].Run; run != nil && run.TaskID != "" {
			runs[run.TaskID] = run
		}
	}
	if j.ops.history == nil || len(runs) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, historyTime)
	defer cancel()
	page, err := j.ops.history.Executions(ctx, history.ExecutionFilter{Job: string(j.name), Outcomes: []history.Outcome{history.OutcomeRunning}, Limit: history.MaxLimit})
	if err != nil {
		return fmt.Errorf("history: %w", brief.Error(err))
	}
	for _, x := range page.Rows {
		if run := runs[x.TaskID]; run != nil {
			run.Begun = x.StartTime.UTC()
		}
	}
	return nil
}
