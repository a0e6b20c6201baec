package dataflow_test

import (
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/docpage"
	"github.com/elasticjob-go/elasticjob/job/dataflow"
)

func TestReferenceProperties(t *testing.T) {
	docpage.Open(t, "reference/job-types.md").Section(t, "Dataflow").WantProperties(t, dataflow.Properties().Rows)
}
