package show

import (
	"fmt"
	"strings"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/moment"
	"github.com/elasticjob-go/elasticjob/ops/failed"
)

// Failures is what has failed in a namespace.
type Failures struct {
	Context   string `json:"context,omitempty"`
	Namespace string `json:"namespace"`
	failed.Report
	Unseen string `json:"unseen,omitempty"` // what of it is not known
}

// Failed shows what has failed in namespaces: the names are those of jobs with something that still fails.
func Failed(list []Failures) Result {
	return Result{
		Value: list, Names: func() (names []string) {
			for _, f := range list {
				for _, j := range f.Jobs {
					if j.Failed > 0 {
						names = append(names, j.Job)
					}
				}
			}
			return names
		},
		Table: func() *Table {
			t := NewTable("CONTEXT", "NAMESPACE", "JOB", "FAILED", "OLDER", "SUCCEEDED", "NEWEST", "SERVER", "ERROR")
			t.Empty = "Nothing has failed."
			var foot []string
			for _, f := range list {
				for _, j := range f.Jobs {
					t.Row(f.Context, f.Namespace, j.Job, j.Failed, j.Older, j.Succeeded, moment.Text(j.Newest), j.Runs[0].Server, FirstLine(j.Runs[0].Error))
				}
				if f.Unseen != "" {
					foot = append(foot, f.Unseen)
				}
				if f.HistoryError != "" {
					foot = append(foot, fmt.Sprintf("Of %s only the last execution of each item is known: %s", f.Namespace, f.HistoryError))
				}
				if !f.Since.IsZero() {
					foot = append(foot, fmt.Sprintf("%s has so many failures that only those since %s were looked at.", f.Namespace, moment.Text(f.Since)))
				}
				if f.More > 0 {
					foot = append(foot, fmt.Sprintf("%d more jobs of %s have failures.", f.More, f.Namespace))
				}
				if len(f.Elsewhere) > 0 {
					foot = append(foot, fmt.Sprintf("The history has failures of jobs that %s does not have: %s", f.Namespace, strings.Join(f.Elsewhere, ", ")))
				}
			}
			t.Foot = strings.Join(foot, "\n")
			return t
		},
	}
}
