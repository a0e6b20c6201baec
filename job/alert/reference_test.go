package alert_test

import (
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/docpage"
	"github.com/elasticjob-go/elasticjob/job/alert"
)

func TestReferenceProperties(t *testing.T) {
	page := docpage.Open(t, "reference/failures.md")
	page.Section(t, "All senders").WantProperties(t, alert.CommonRows())
	for _, kind := range alert.Kinds() {
		page.Section(t, kind.Name).WantProperties(t, kind.Table.Rows)
	}
}
