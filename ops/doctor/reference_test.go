package doctor_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/docpage"
	"github.com/elasticjob-go/elasticjob/ops/doctor"
)

// The reference has a section for each kind of finding, which begins with its worst severity and its meaning.
func TestReferenceFindings(t *testing.T) {
	page := docpage.Open(t, "reference/findings.md")
	var names []string
	for _, k := range doctor.Kinds() {
		names = append(names, string(k.Kind))
		begin := fmt.Sprintf("\n**%v**: %s.\n\n", k.Worst, k.Meaning)
		if text := page.Section(t, string(k.Kind)).Text; !strings.HasPrefix(text, begin) || len(text) < len(begin)+20 {
			t.Errorf("the section of %s has to begin with %q, and to say what to do", k.Kind, begin)
		}
	}
	page.WantHeadings(t, 2, names)
}
