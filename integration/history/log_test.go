package history_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/integration/history"
)

func TestLogsAreOneHistory(t *testing.T) {
	folder := t.TempDir()
	var mirror bytes.Buffer
	var paths []string
	var want []history.Event
	logs := map[string]*history.Log{}
	for _, process := range []string{"w1", "w2"} {
		path := filepath.Join(folder, process)
		log, err := history.Create(path, process, &mirror)
		if err != nil {
			t.Fatal(err)
		}
		paths, logs[process] = append(paths, path), log
	}
	for _, process := range []string{"w2", "w1", "w2"} {
		e := history.Now(history.Commit)
		e.Job, e.Claims, e.Ends = "j", []history.Claim{{Item: 1, Tick: e.Wall.UTC()}}, []int{0}
		logs[process].Add(e)
		e.Process = process
		want = append(want, e)
	}
	for _, log := range logs {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	}
	got, err := history.Read(paths...)
	if err != nil {
		t.Fatal(err)
	}
	same := cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })
	if diff := cmp.Diff(want, got, same); diff != "" {
		t.Error(diff)
	}
	var mirrored []history.Event
	if err := history.Decode(&mirror, func(e history.Event) bool { mirrored = append(mirrored, e); return true }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, mirrored, same); diff != "" {
		t.Error(diff)
	}
}

// A process may be killed in the middle of its last line, and nobody writes half a line before another one.
func TestTornLine(t *testing.T) {
	const line = `{"process":"w1"}` + "\n"
	for name, tc := range map[string]struct {
		text  string
		want  int
		isBad bool
	}{
		"no line":        {"", 0, false},
		"half a line":    {`{"process":`, 0, false},
		"at the end":     {line + line + `{"process":`, 2, false},
		"before another": {`{"process":` + "\n" + line, 0, true},
	} {
		path := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(path, []byte(tc.text), 0o600); err != nil {
			t.Fatal(err)
		}
		events, err := history.Read(path)
		if (err != nil) != tc.isBad || len(events) != tc.want {
			t.Errorf("%s: %d events, %v", name, len(events), err)
		}
	}
}

func TestTree(t *testing.T) {
	tree := coord.NewTree()
	for _, path := range []string{
		"j", "j/config", "j/servers/10.0.0.1", "j/schedule", "j/sharding/0/instance", "j/sharding/0/fired", "j/sharding/0/misfire",
		// Parents, as ZooKeeper leaves them.
		"j/instances", "j/sessions", "j/trigger", "j/leader/election/latch", "j/leader/failover/items", "j/sharding/0",
	} {
		tree.Put(coord.Node{Path: path})
	}
	if left := history.CheckTree(tree.Snapshot()); left != nil {
		t.Errorf("a clean tree: %v", left)
	}
	for _, path := range []string{
		"j/instances/a", "j/sessions/a", "j/trigger/a", "j/sharding/0/running", "j/sharding/0/failover",
		"j/sharding/0/failovering", "j/leader/failover/items/0", "j/leader/election/instance", "j/leader/election/latch/x",
	} {
		tree.Put(coord.Node{Path: path})
		if left := history.CheckTree(tree.Snapshot()); len(left) != 1 || left[0].Promise != 11 {
			t.Errorf("with %s: %v", path, left)
		}
		tree.Delete(path)
	}
	tree.Put(coord.Node{Path: "j/anything", Owner: 7})
	if left := history.CheckTree(tree.Snapshot()); len(left) != 1 {
		t.Errorf("with an ephemeral node: %v", left)
	}
	tree.Delete("j/anything")
	tree.Put(coord.Node{Path: "~elasticjob/removed/j"})
	tree.Put(coord.Node{Path: "~elasticjob/removed/gone"})
	if left := history.CheckTree(tree.Snapshot()); left != nil {
		t.Errorf("created again: %v", left)
	}
	tree.Delete("j/config")
	if left := history.CheckTree(tree.Snapshot()); len(left) != 1 || left[0].Promise != 25 {
		t.Errorf("without a configuration: %v", left)
	}
}

// A request to the store is written down if it has taken long, with when it was sent.
func TestTook(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	log, err := history.Create(path, "w1", nil)
	if err != nil {
		t.Fatal(err)
	}
	now := history.Mono()
	log.Took(now + int64(time.Hour)) // quick, however slow this machine is
	log.Took(now - int64(time.Second))
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	events, err := history.Read(path)
	if err != nil || len(events) != 1 || events[0].Kind != history.Slow || events[0].Call != now-int64(time.Second) {
		t.Errorf("%+v, %v", events, err)
	}
}
