package httpjob_test

import (
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/docpage"
	"github.com/elasticjob-go/elasticjob/job/httpjob"
)

func TestReferenceProperties(t *testing.T) {
	docpage.Open(t, "reference/job-types.md").Section(t, "HTTP").WantProperties(t, httpjob.Table().Rows)
}
