package email_test

import (
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/docpage"
	"github.com/elasticjob-go/elasticjob/job/alert/email"
)

func TestReferenceProperties(t *testing.T) {
	docpage.Open(t, "reference/failures.md").Section(t, email.Name).WantProperties(t, email.Rows())
}
