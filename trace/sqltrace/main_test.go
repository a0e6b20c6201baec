package sqltrace_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/internal/testserver/database"
)

// servers are those of all tests; each test has a database of its own.
var servers database.Shared

func TestMain(m *testing.M) { goleak.VerifyTestMain(servers.Around(m)) }
