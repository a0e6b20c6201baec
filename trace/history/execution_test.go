package history_test

import (
	"slices"
	"testing"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// Each way to end without success is either a failure or an interruption, so that who asks for both
// misses none, also when package job gets another outcome.
func TestHowExecutionsEnd(t *testing.T) {
	unsuccessful := append(history.Failures(), history.Interrupted()...)
	if n := len(unsuccessful); len(slices.Compact(slices.Sorted(slices.Values(unsuccessful)))) != n {
		t.Errorf("%v has something twice", unsuccessful)
	}
	for o := job.OutcomeOK; o.String() != "UNKNOWN"; o++ {
		want := o != job.OutcomeOK && o != job.OutcomeSkipped // which no execution has
		if got := slices.Contains(unsuccessful, history.OutcomeOf(o)); got != want {
			t.Errorf("%v: among those without success is %v, want %v", o, got, want)
		}
	}
	if !slices.Contains(unsuccessful, history.OutcomeLost) || slices.Contains(unsuccessful, history.OutcomeRunning) {
		t.Errorf("LOST is not there, or RUNNING is: %v", unsuccessful)
	}
}
