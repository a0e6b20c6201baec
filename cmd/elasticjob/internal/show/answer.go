package show

import (
	"fmt"
	"strings"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/moment"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/ops/why"
)

// Answer shows why a job did not run: a paragraph for each cause, because the sentences are long.
func Answer(a why.Answer) Result {
	return Result{
		Value: a, Names: func() (kinds []string) {
			for _, c := range a.Causes {
				kinds = append(kinds, string(c.Kind))
			}
			return kinds
		},
		Table: func() *Table {
			t := NewTable()
			t.Head = fmt.Sprintf("%s: job %s", strings.ToUpper(string(a.Verdict)), a.Job)
			if a.Item != nil {
				t.Head += fmt.Sprintf(", item %d", *a.Item)
			}
			t.Head += ", at " + moment.Text(a.At)
			t.Field("Tick", moment.Text(a.Tick))
			t.Field("Next", moment.Text(a.Next))
			for _, c := range a.Causes {
				one := NewTable()
				for _, line := range [][2]string{
					{"Cause", c.Text}, {"Items", brief.Items(c.Items)}, {"Since", moment.Text(c.Since)}, {"Until", moment.Text(c.Until)}, {"By", c.By}, {"Why", c.Why}, {"With", c.Command},
				} {
					one.Field("  "+line[0], line[1])
				}
				t.Section(string(c.Kind), one)
			}
			runs := NewTable("ITEM", "STARTED", "COMPLETED", "SOURCE", "OUTCOME", "INSTANCE", "(ID)")
			for _, r := range a.Runs {
				runs.Row(r.Item, moment.Text(r.Begun), moment.Text(r.Ended), r.Source, r.Outcome, r.Instance, r.ID)
			}
			t.Section("Runs for the tick:", runs)
			t.Section("Not certain:", Text(strings.Join(a.Unseen, "\n")))
			return t
		},
	}
}
