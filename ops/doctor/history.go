package doctor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

const (
	// historyTime bounds how long the history is asked.
	historyTime = 5 * time.Second
	// maxAsked bounds how many jobs it is asked about, for each kind.
	maxAsked = 20
)

// checkHistory looks at what only the history knows of the jobs of the first look. That nobody answers is no error of the
// examination: the report says it.
func (e *examination) checkHistory(ctx context.Context, names map[string]bool, c *collector) {
	if e.o.History == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, historyTime)
	defer cancel()
	var fail []string
	for _, s := range c.list {
		if s.Kind == ItemsFail && len(fail) < maxAsked {
			fail = append(fail, s.Job)
		}
	}
	err := e.checkSuccess(ctx, fail, c)
	if err == nil {
		err = e.checkMissed(ctx, names, c)
	}
	if err != nil {
		e.report.NoHistory = brief.Error(err).Error()
	}
}

// checkSuccess looks which of the jobs that fail have never had a success.
func (e *examination) checkSuccess(ctx context.Context, jobs []string, c *collector) error {
	for _, job := range jobs {
		good, err := e.o.History.Executions(ctx, history.ExecutionFilter{Job: job, Outcomes: []history.Outcome{history.OutcomeOf(jobtype.OutcomeOK)}, Limit: 1})
		if err != nil {
			return fmt.Errorf("job %s: %w", job, err)
		}
		if len(good.Rows) == 0 {
			c.add(symptom{Finding: Finding{Kind: NeverSucceeded, Severity: Warning, Job: job, Cause: "the history has no execution of it that was a success", Advice: "correct the handler, or what it needs; then run them again", Action: Retry, Command: commandOf(Retry, job)}})
		}
	}
	return nil
}

// checkMissed looks which jobs have missed many ticks within a day: of those with the newest, unless some are named. Ticks that
// are skipped because somebody wants it so are not missed.
func (e *examination) checkMissed(ctx context.Context, names map[string]bool, c *collector) error {
	from := e.report.At.Add(-24 * time.Hour)
	jobs := e.o.Jobs
	if len(jobs) == 0 {
		page, err := e.o.History.Events(ctx, history.EventFilter{Kinds: []jobtype.EventKind{jobtype.EventMadeUp, jobtype.EventSkipped}, From: from, Limit: history.MaxLimit})
		if err != nil {
			return err
		}
		for _, x := range page.Rows {
			if names[x.Job] && !slices.Contains(jobs, x.Job) {
				jobs = append(jobs, x.Job)
			}
		}
	}
	for _, job := range jobs[:min(len(jobs), maxAsked)] {
		hours, err := e.o.History.Missed(ctx, history.CountQuery{Job: job, From: from, To: e.report.At, Step: history.Hourly})
		if err != nil {
			return fmt.Errorf("job %s: %w", job, err)
		}
		c.addMissed(job, hours, e.report.At, e.o.Thresholds.Missed)
	}
	return nil
}

// addMissed notes that a job has missed more ticks than it may.
func (c *collector) addMissed(job string, hours []history.Missed, now time.Time, most int) {
	s := symptom{Finding: Finding{Kind: TicksMissed, Severity: Info, Job: job,
		Advice: "look at its log and at what else its instances run; give it more threads or instances, or let it run less often"}}
	madeUp, skipped := int64(0), int64(0)
	for _, h := range hours {
		lost := h.Skipped[jobtype.SkipTooLate.String()] + h.Skipped[jobtype.SkipScheduleChanged.String()]
		if h.MadeUp+lost == 0 {
			continue
		}
		madeUp, skipped, s.Since = madeUp+h.MadeUp, skipped+lost, earlier(s.Since, h.Start)
		if h.Start.Add(2 * time.Hour).After(now) {
			s.Severity = Warning
		}
	}
	if s.Cause = fmt.Sprintf("%d ticks of its items were missed within a day: %d were made up, nobody runs the others", madeUp+skipped, madeUp); madeUp+skipped > int64(most) {
		c.add(s)
	}
}
