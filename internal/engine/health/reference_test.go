package health_test

import (
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/docpage"
	"github.com/elasticjob-go/elasticjob/internal/engine/health"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// The reference has a section for each kind of fault, under the name that it has in logs, metrics and the tree, with
// the advice that its log line gives.
func TestReferenceFaults(t *testing.T) {
	page := docpage.Open(t, "reference/faults.md")
	var names []string
	for k := jobtype.FaultConfig; k.String() != jobtype.FaultKind(0).String(); k++ {
		names = append(names, k.String())
		text := page.Section(t, k.String()).Text
		for _, want := range []string{`"kind": "` + k.String() + `"`, `"do": "` + health.Remedy(k) + `"`} {
			if !strings.Contains(text, want) {
				t.Errorf("the section of %s has no %s", k, want)
			}
		}
	}
	page.WantHeadings(t, 2, append(names, "stopped"))
}
