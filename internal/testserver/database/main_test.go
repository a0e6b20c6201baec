package database_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/internal/testserver/database"
)

// victim is an environment variable. If it is set, this binary starts a server of that kind
// and waits to be killed.
const victim = "DATABASE_TEST_VICTIM"

func TestMain(m *testing.M) {
	for _, kind := range kinds {
		if os.Getenv(victim) != kind.String() {
			continue
		}
		s, err := database.Run(context.Background(), database.Config{Kind: kind, Disk: smallDisk()})
		if err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		fmt.Println(s.Pid(), s.Folder())
		_, _ = io.Copy(io.Discard, os.Stdin) // until it is closed, however that is
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}
