package jobtree_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// What is written is read; a document that would let anybody wait without a bound is refused.
func TestGuarantee(t *testing.T) {
	at := time.Date(2026, 11, 20, 23, 14, 28, 0, time.UTC)
	whole := jobtree.GuaranteeDocument{
		Items: []int{0, 1, 2, 7}, Skipped: []int{2}, Starter: "10.0.0.1@-@1-a", StartBy: at.Add(time.Minute),
		Completer: "10.0.0.2@-@1-b", Until: at.Add(3 * time.Minute), Begun: at, CompleteBy: at.Add(time.Hour), Again: true, Ended: true,
	}
	value, err := jobtree.EncodeGuarantee(whole)
	if err != nil {
		t.Fatal(err)
	}
	const job = jobtree.Job("settle")
	nodes := map[string]string{job.Guarantees(): "2026-11-20T23:14:28.000Z", job.Guarantee(at): string(value), job.GuaranteeOpen(at): "", job.GuaranteeItem(at, 1): "CUT"}
	s := jobtree.Read(tree(nodes), job)
	g := s.Guarantee(at)
	if g == nil || g.Err != nil || !g.IsOpen || g.Outcomes[1] != jobtree.OutcomeCut || !s.Guaranteed.Tick.Equal(at) {
		t.Fatalf("read %+v of %+v", g, s.Guarantees)
	}
	if diff := cmp.Diff(whole, g.GuaranteeDocument); diff != "" {
		t.Error(diff)
	}
	for name, bad := range map[string]string{
		"nothing":        "",
		"no members":     "startBy: 2026-11-20T23:14:28Z\ncompleteBy: 2026-11-20T23:14:28Z\n",
		"no times":       "items: 0-3\n",
		"no end":         "items: 0-3\nstartBy: 2026-11-20T23:14:28Z\n",
		"bad time":       "items: 0-3\nstartBy: soon\ncompleteBy: 2026-11-20T23:14:28Z\n",
		"bad skipped":    "items: 0-3\nskipped: x\nstartBy: 2026-11-20T23:14:28Z\ncompleteBy: 2026-11-20T23:14:28Z\n",
		"list as a text": "items: 0-3\nstarter: [a]\nstartBy: 2026-11-20T23:14:28Z\ncompleteBy: 2026-11-20T23:14:28Z\n",
	} {
		nodes[job.Guarantee(at)] = bad
		if g := jobtree.Read(tree(nodes), job).Guarantee(at); g == nil || g.Err == nil || len(g.Items) > 0 {
			t.Errorf("%s: %+v", name, g)
		}
	}
}

// A completion ends a member only if nobody goes on with the run, and no request has asked for it.
func TestCompletionIsFor(t *testing.T) {
	at := time.Date(2026, 11, 20, 23, 14, 28, 0, time.UTC)
	for name, tc := range map[string]struct {
		d    jobtree.CompletionDocument
		want bool
	}{
		"ok":           {jobtree.CompletionDocument{Tick: at, Token: 3, Outcome: jobtree.OutcomeOK, TaskID: "t", Source: "MISFIRE", Error: "out: CUT\nreq: 1\n"}, true},
		"failed":       {jobtree.CompletionDocument{Tick: at, Outcome: jobtree.OutcomeFailed}, true},
		"cut":          {jobtree.CompletionDocument{Tick: at, Outcome: jobtree.OutcomeCut}, false},
		"killed":       {jobtree.CompletionDocument{Tick: at, Outcome: jobtree.OutcomeKilled}, false},
		"a request":    {jobtree.CompletionDocument{Tick: at, Token: 3, Outcome: jobtree.OutcomeOK, Request: "1-a"}, false},
		"another tick": {jobtree.CompletionDocument{Tick: at.Add(time.Second), Outcome: jobtree.OutcomeOK}, false},
	} {
		s := jobtree.Read(tree(map[string]string{"settle/sharding/0/completed": string(jobtree.EncodeCompletion(tc.d))}), "settle")
		if got := s.Item(0).Completed.IsFor(at); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if (*jobtree.Completion)(nil).IsFor(at) {
		t.Error("no completion")
	}
}
