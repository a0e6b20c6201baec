package oteljob_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/job/script"
)

// supervisor is for the scripts of the tests; TestMain sets it.
var supervisor script.Supervisor

func TestMain(m *testing.M) {
	supervisor = script.Supervise()
	goleak.VerifyTestMain(m)
}
