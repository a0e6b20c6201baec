package jobtree_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Each execution writes a completion and a fired node, and each member takes both in.
func BenchmarkDocuments(b *testing.B) {
	const job = jobtree.Job("settle")
	tick := time.Date(2026, 11, 20, 23, 14, 28, 5e6, time.UTC)
	d := jobtree.CompletionDocument{
		Tick: tick, Token: 12345, Outcome: jobtree.OutcomeOK, Begun: tick.Add(12 * time.Millisecond), Ended: tick.Add(1512345 * time.Microsecond),
		TaskID: "019a9c3e-7f00-7a31-8c55-0242ac120002", Source: "NORMAL_TRIGGER",
	}
	completion := jobtree.EncodeCompletion(d)
	instance := jobtree.EncodeInstance(id, "192.0.2.2", []string{"gpu", "weight=3"})
	session := jobtree.EncodeSession(jobtree.SessionDocument{Protocol: 2, Accepted: 12345, Revision: 3, NodeID: id})
	progress := jobtree.EncodeProgress(jobtree.ProgressDocument{Done: 3, Outcome: jobtree.OutcomeOK, TaskID: d.TaskID, Token: 12345, Ended: tick})
	for name, run := range map[string]func(){
		"encode completion": func() { jobtree.EncodeCompletion(d) },
		"decode completion": func() { _, _ = jobtree.DecodeCompletion(completion) },
		"outcome":           func() { c := jobtree.Completion{Node: coord.Node{Value: completion}}; _ = c.Outcome() },
		"encode fired":      func() { jobtree.EncodeFired(tick) },
		"decode fired":      func() { _, _ = jobtree.DecodeFired([]byte("2026-11-20T23:14:28.000Z")) },
		"encode session": func() {
			jobtree.EncodeSession(jobtree.SessionDocument{Protocol: 2, Accepted: 12345, Revision: 3, NodeID: id})
		},
		"encode progress": func() {
			jobtree.EncodeProgress(jobtree.ProgressDocument{Done: 3, Outcome: jobtree.OutcomeOK, TaskID: d.TaskID, Token: 12345, Ended: tick})
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				run()
			}
		})
	}
	for name, nodes := range map[string]map[string]string{
		"instance": {job.Instance(id): string(instance)}, "session": {job.Session(id): string(session)},
		"progress": {job.Request("1-a"): "items: 0\n", job.Progress("1-a", 0): string(progress)},
	} {
		snapshot := tree(nodes)
		b.Run("read "+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				jobtree.Read(snapshot, job)
			}
		})
	}
}

// A run of an item begins and ends: what a member takes in of that, of a job of many items.
func BenchmarkExecution(b *testing.B) {
	const job = jobtree.Job("settle")
	for _, items := range []int{3, 1_000} {
		b.Run(fmt.Sprintf("items=%d", items), func(b *testing.B) {
			now := coord.NewTree()
			now.Put(coord.Node{Path: job.Config(), Value: []byte("cron: x"), Created: 1, Modified: 1})
			for i := range items {
				now.Put(coord.Node{Path: job.ItemInstance(i), Value: []byte(id), Created: 1, Modified: 1})
				now.Put(coord.Node{Path: job.Fired(i), Value: []byte("2026-11-20T23:14:27.000Z"), Created: 1, Modified: 1})
			}
			shown := now.Snapshot()
			state := jobtree.Read(shown, job)
			tick, revision := time.Date(2026, 11, 20, 23, 14, 28, 0, time.UTC), int64(1)
			follow := func() {
				snapshot := now.Snapshot()
				state.Follow(snapshot, shown, job)
				shown = snapshot
			}
			b.ReportAllocs()
			for b.Loop() {
				revision++
				tick = tick.Add(time.Second)
				i := items / 2
				now.Put(coord.Node{Path: job.Running(i), Value: []byte(id), Created: revision, Modified: revision})
				now.Put(coord.Node{Path: job.Fired(i), Value: jobtree.EncodeFired(tick), Created: 1, Modified: revision})
				follow()
				now.Delete(job.Running(i))
				now.Put(coord.Node{Path: job.Completion(i), Value: jobtree.EncodeCompletion(jobtree.CompletionDocument{Tick: tick, Token: revision, Outcome: jobtree.OutcomeOK, Ended: tick}), Created: 1, Modified: revision})
				follow()
			}
		})
	}
}
