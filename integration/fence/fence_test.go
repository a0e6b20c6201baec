package fence_test

import (
	"context"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/integration/fence"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fence")
	table, err := fence.Serve(path)
	if err != nil {
		t.Fatal(err)
	}
	var clients []*fence.Client
	for range 2 {
		c, err := fence.Dial(context.Background(), path)
		if err != nil {
			t.Fatal(err)
		}
		clients = append(clients, c)
	}
	for i, step := range []struct {
		client int
		name   string
		token  int64
		want   bool
	}{
		{0, "a", 5, true},
		{0, "a", 5, true}, // its own, again
		{1, "a", 7, true},
		{0, "a", 5, false}, // the sleeper
		{0, "b", 5, true},  // another name
		{1, "a", 7, true},
	} {
		got, err := clients[step.client].Write(step.name, step.token)
		if err != nil || got != step.want {
			t.Errorf("step %d: %v, %v, want %v", i, got, err, step.want)
		}
	}
	if err := clients[0].Close(); err != nil {
		t.Error(err)
	}
	// With a client that is still there.
	if err := table.Close(); err != nil {
		t.Error(err)
	}
	if _, err := clients[1].Write("a", 9); err == nil {
		t.Error("a closed table answered")
	}
	_ = clients[1].Close()
}
