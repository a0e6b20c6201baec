package worker

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/integration/history"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What a commit does to items is seen in what it writes.
func TestDescribe(t *testing.T) {
	const j = jobtree.Job("j")
	tick := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	earlier := tick.Add(-time.Minute)
	fired := jobtree.EncodeFired(tick)
	for name, test := range map[string]struct {
		ops  []coord.Op
		want history.Event
	}{
		"two claims": {
			ops: []coord.Op{
				coord.Owned(j.Session("me")),
				coord.CreateEphemeral(j.Running(10), nil), coord.SetAt(j.Fired(10), fired, 3),
				coord.Create(j.Running(1), nil), coord.Create(j.Fired(1), fired),
			},
			want: history.Event{Job: "j", Instance: "me", Claims: []history.Claim{{Item: 10, Tick: tick}, {Item: 1, Tick: tick}}},
		},
		"a claim for an earlier tick": {
			ops:  []coord.Op{coord.Create(j.Running(1), nil), coord.SetAt(j.Fired(1), jobtree.EncodeClaim(tick, earlier), 3)},
			want: history.Event{Job: "j", Claims: []history.Claim{{Item: 1, Tick: earlier}}},
		},
		"a claim whose answer was lost, again": {
			ops:  []coord.Op{coord.Exists(j.Running(1)), coord.SetAt(j.Fired(1), fired, 3)},
			want: history.Event{Job: "j", Claims: []history.Claim{{Item: 1, Tick: tick}}},
		},
		"two ends": {
			ops: []coord.Op{
				coord.AtVersion(j.Fired(2), 3), coord.Delete(j.Running(2)),
				coord.SetAt(j.Fired(1), fired, 3), coord.DeleteTree(j.Running(1)),
			},
			want: history.Event{Job: "j", Ends: []int{1, 2}},
		},
		"an end that passes a tick over": {
			ops: []coord.Op{
				coord.Owned(j.Session("me")), coord.Owned(j.Session("a ghost")),
				coord.Exists(j.Running(1)), coord.SetAt(j.Fired(1), fired, 3), coord.DeleteTree(j.Running(1)),
			},
			want: history.Event{Job: "j", Instance: "me", Ends: []int{1}},
		},
		"a make-up": {
			ops:  []coord.Op{coord.Set(j.Running(1), nil), coord.SetAt(j.Fired(1), fired, 3)},
			want: history.Event{Job: "j", Claims: []history.Claim{{Item: 1, Tick: tick}}, Ends: []int{1}},
		},
		"put up for others": {
			ops:  []coord.Op{coord.Delete(j.Running(1)), coord.Put(j.FailoverItem(1), fired)},
			want: history.Event{Job: "j", Ends: []int{1}, Waits: []int{1}},
		},
		"for a request": {
			ops: []coord.Op{
				coord.Create(j.Progress("r7", 2), jobtree.EncodeProgress(jobtree.ProgressDocument{Runner: "me"})),
				coord.Create(j.Running(2), nil), coord.SetAt(j.Fired(2), fired, 3),
			},
			want: history.Event{Job: "j", Claims: []history.Claim{{Item: 2, Tick: tick, Request: "r7"}}},
		},
		"the end of a run for a request": {
			ops: []coord.Op{
				coord.SetAt(j.Progress("r7", 2), jobtree.EncodeProgress(jobtree.ProgressDocument{Done: 1, Outcome: jobtree.OutcomeOK}), 1),
				coord.DeleteTree(j.Running(2)),
				coord.Put(j.Completion(2), jobtree.EncodeCompletion(jobtree.CompletionDocument{Token: 7, Outcome: jobtree.OutcomeOK})),
			},
			want: history.Event{Job: "j", Ends: []int{2}, Told: []history.Told{{Item: 2, Token: 7, Outcome: "OK"}}},
		},
		"skipped": {
			ops:  []coord.Op{coord.AtVersion(j.ItemInstance(1), 1), coord.SetAt(j.Fired(1), fired, 3)},
			want: history.Event{Job: "j"},
		},
		"an assignment": {
			ops:  []coord.Op{coord.Absent(j.Running(1)), coord.SetAt(j.ItemInstance(1), nil, 1), coord.Create(j.Fired(2), fired)},
			want: history.Event{Job: "j"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, about := describe(test.ops)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if want := len(test.want.Claims)+len(test.want.Ends)+len(test.want.Waits)+len(test.want.Told) > 0; about != want {
				t.Errorf("about items: %v, want %v", about, want)
			}
		})
	}
}
