package integration_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/integration/cluster"
)

func TestMain(m *testing.M) {
	cluster.PlayRole()
	goleak.VerifyTestMain(m)
}
