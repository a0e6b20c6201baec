package jobtree_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

func TestMigration(t *testing.T) {
	at := time.Date(2026, 11, 22, 20, 0, 0, 0, time.UTC)
	for _, d := range []jobtree.MigrationDocument{
		{},
		{IsSource: true, From: "zookeeper://a,b/ns", To: "etcd://c/ns", By: "anna", Why: "it: goes\n", At: at, Runner: "0011223344556677", Jobs: 10_000, IsKept: true},
	} {
		got, err := jobtree.DecodeMigration(jobtree.EncodeMigration(d))
		if diff := cmp.Diff(d, got); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	}
	long := jobtree.MigrationDocument{From: strings.Repeat("f", 5000), By: strings.Repeat("b", 5000), Why: strings.Repeat("\x01", 5000)}
	if got, err := jobtree.DecodeMigration(jobtree.EncodeMigration(long)); err != nil || len(got.From) > 1010 || len(got.By) > 260 {
		t.Errorf("%d, %d, %v", len(got.From), len(got.By), err)
	}
	for _, bad := range []string{"", "x", "side: left\n", "side: source\nat: yesterday\n", "side: source\njobs: -1\n", "side: target\nkept: perhaps\n", "side: source\nwhy: " + strings.Repeat("w", 9<<10)} {
		if d, err := jobtree.DecodeMigration([]byte(bad)); err == nil || d != (jobtree.MigrationDocument{}) {
			t.Errorf("%.20q: %+v, %v", bad, d, err)
		}
	}
}

func TestMoving(t *testing.T) {
	for _, d := range []jobtree.MovingDocument{
		{Step: jobtree.Left},
		{Step: jobtree.Arrived},
		{Step: jobtree.Arriving, Kept: []byte{}},
		{Step: jobtree.Leaving, Kept: []byte("---\ncron: x\n---\n")},
	} {
		got, err := jobtree.DecodeMoving(jobtree.EncodeMoving(d))
		if diff := cmp.Diff(d, got); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	}
	for _, bad := range []string{"", "leaving", "step: gone\n", "step: ", "---\nstep: left\n"} {
		if d, err := jobtree.DecodeMoving([]byte(bad)); err == nil || d.Step != "" {
			t.Errorf("%q: %+v, %v", bad, d, err)
		}
	}
}

func TestKnows(t *testing.T) {
	const name = jobtree.Job("settle")
	for path, want := range map[string]bool{
		"settle": true, name.Config(): true, name.Fired(3): true, name.Cursor(1): true, name.Kill(2): true, name.Pin(0): true, name.Requests(): true,
		name.Guarantees(): true, name.Necessary(): true, name.Faults("x"): true, name.Session("x"): true, "settle/systemTime/current": true,
		"settle/notes": false, "settle/configs": false, "settle/my/config": false,
	} {
		if got := name.Knows(path); got != want {
			t.Errorf("%s: %t", path, got)
		}
	}
}
