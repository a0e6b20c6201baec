package jvmmember_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
)

// shared is the server of all tests; each has a namespace of its own there.
var shared struct {
	start  sync.Once
	server *zkserver.Server
	err    error
	spaces atomic.Int64
}

// newSpace is the name of a namespace that nobody has.
func newSpace() string { return fmt.Sprintf("story-%d", shared.spaces.Add(1)) }

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.server != nil {
		if err := shared.server.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func sharedServer(t testing.TB) *zkserver.Server {
	t.Helper()
	zkserver.Require(t)
	shared.start.Do(func() { shared.server, shared.err = zkserver.Run(context.Background(), zkserver.Config{}) })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.server
}
