package script_test

import (
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/docpage"
	"github.com/elasticjob-go/elasticjob/job/script"
)

func TestReferenceProperties(t *testing.T) {
	docpage.Open(t, "reference/job-types.md").Section(t, "SCRIPT").WantProperties(t, script.Table().Rows)
}
