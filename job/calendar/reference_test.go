package calendar_test

import (
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/docpage"
	"github.com/elasticjob-go/elasticjob/job/calendar"
)

// The document that the reference shows can be read.
func TestReferenceDocument(t *testing.T) {
	blocks := docpage.Open(t, "reference/steering.md").Section(t, "Calendars").Blocks("yaml")
	if len(blocks) != 1 {
		t.Fatalf("%d documents", len(blocks))
	}
	if _, err := calendar.Parse([]byte(blocks[0].Text)); err != nil {
		t.Error(err)
	}
}
