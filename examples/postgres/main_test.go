package postgres

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/internal/testserver/database"
)

// servers has the PostgreSQL of the tests, which each have a database of their own there. Take what starts yours.
var servers database.Shared

func TestMain(m *testing.M) { goleak.VerifyTestMain(servers.Around(m)) }
