package job_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// The log has a line for each change of an instance, and none while nothing changes.
func TestLogTellsTheStory(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.TimeZone, cfg.ReconcileInterval = "UTC", time.Minute
		logged, logs := newLogbook()
		told := 0
		// expect waits for a new line in the log, and returns its fields.
		expect := func(message string) map[string]any {
			t.Helper()
			for range 600 {
				all := logged.All()
				for i := told; i < len(all); i++ {
					if all[i].Message == message {
						told = i + 1
						return all[i].ContextMap()
					}
				}
				c.pass(100 * time.Millisecond)
			}
			t.Fatalf("the log does not say %q: %q", message, logged.messages())
			return nil
		}
		a := c.join("10.0.0.1", cfg, nil, logs)
		joined := expect("joined")
		for key, want := range map[string]any{"job": "settle", "instance": a.Status().InstanceID, "items": int64(3), "cron": "* * * * * ?", "zone": "UTC"} {
			if joined[key] != want {
				t.Errorf("joined: %s is %v, want %v", key, joined[key], want)
			}
		}
		if joined["next tick"] == nil {
			t.Error("joined: no next tick")
		}
		expect("leads")
		expect("items changed")
		b := c.join("10.0.0.2", cfg, forAWhile(1500*time.Millisecond))
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		if lost := expect("items changed"); lost["has"] != int64(2) {
			t.Errorf("it has lost an item: %v", lost)
		}
		quiet := logged.Len()
		c.pass(5 * time.Minute) // longer than the interval after which it reconciles
		if n := logged.Len() - quiet; n > 0 {
			t.Errorf("%d lines in steady state: %q", n, logged.messages()[quiet:])
		}
		c.configure(func(cfg *job.Config) { cfg.JobParameter = "today"; cfg.Cron = "0/2 * * * * ?" })
		changes := ""
		if list, ok := expect("configuration changed")["fields"].([]any); ok {
			for _, field := range list {
				changes += field.(string) + "\n"
			}
		}
		for _, want := range []string{"* * * * * ?", "0/2 * * * * ?", "today"} {
			if !strings.Contains(changes, want) {
				t.Errorf("%q does not have %s", changes, want)
			}
		}
		c.awaitRuns("it runs there", 1, func(e execution) bool { return e.ip == "10.0.0.2" && e.end.IsZero() })
		b.crash()
		if from := expect("recovered"); from["from"] != b.Status().InstanceID {
			t.Errorf("recovered from %v", from)
		}
		if took := expect("took over"); took["to"] != a.Status().InstanceID || took["token"] == nil {
			t.Errorf("taken over: %v", took)
		}
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.pass(5 * time.Second)
		quiet = logged.Len()
		c.pass(5 * time.Minute)
		if n := logged.Len() - quiet; n > 0 {
			t.Errorf("%d lines in steady state: %q", n, logged.messages()[quiet:])
		}
		a.leave()
		expect("leaving")
		expect("left")
		t.Logf("%q", logged.messages())
	})
}

// Who has forgotten the cron sees in the log why nothing runs.
func TestLogTellsThatAJobHasNoCron(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron = ""
		logged, logs := newLogbook()
		c.join("10.0.0.1", cfg, nil, logs)
		c.settled()
		lines := logged.says("joined")
		if len(lines) != 1 || lines[0]["cron"] != "none: it runs only when it is triggered" || lines[0]["next tick"] != nil {
			t.Errorf("joined: %v", lines)
		}
	})
}

// A line about many items is short, and few lines tell of them all.
func TestLogLinesAreShort(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		const many = 1000
		cfg := c.config()
		cfg.Cron, cfg.ShardingTotalCount, cfg.Threads = "0 * * * * ?", many, many
		logged, logs := newLogbook()
		release := make(chan struct{})
		work := hangs(release, everyItem)
		c.join("10.0.0.1", cfg, work, logs)
		b := c.join("10.0.0.2", cfg, work)
		c.ownedBy("10.0.0.2", many, many/2)
		c.pass(time.Minute)
		c.awaitRuns("all run", many, anything)
		b.crash()
		c.awaitRuns("those of the other again", many/2, reruns)
		c.pass(2 * time.Minute) // the ticks of this time are missed
		close(release)
		c.awaitRuns("made up", many, func(e execution) bool { return e.Source == job.SourceMisfire })
		said := logged.messages()
		for _, want := range []string{"items changed", "recovered", "took over", "made up", atFault} {
			if !slices.Contains(said, want) {
				t.Errorf("the log says %q, and not %q", said, want)
			}
		}
		var told int64
		for _, fields := range logged.says("took over") {
			runs, _ := fields["runs"].(int64)
			told += runs
		}
		if told != many/2 || len(said) > 60 {
			t.Errorf("%d lines, and those about failover tell of %d runs", len(said), told)
		}
		for i, size := range logged.sizes() {
			if size > 700 {
				t.Errorf("%q has %d bytes", said[i], size)
			}
		}
		c.check()
	})
}

// A line about nodes that an external writer wrote, or about a fault, is short, too, whatever the
// store answers.
func TestLogLinesQuoteLittle(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, s *memory.Store) {
		long := strings.Repeat("x", 900_000)
		logged, logs := newLogbook()
		m := c.join("10.0.0.1", c.config(), nil, logs)
		m.awaitStatus("it leads", func(s job.Status) bool { return s.Leader && len(s.Items) == 3 })
		c.settled()
		c.commit(coord.Put(c.job.Running(1), []byte(long))) // which stands for nobody
		c.awaitRuns("item 1 again", 1, reruns)
		node, err := c.admin.Get(t.Context(), c.job.Config())
		c.must(err)
		c.commit(coord.Put(c.job.Config(), []byte("cron: "+long)))
		m.awaitFault(jobtype.FaultConfig, "")
		c.commit(coord.Put(c.job.Config(), node.Value))
		m.awaitSound()
		says := s.Inject(memory.Fault{Method: memory.Commit, Before: fmt.Errorf("%s: %w", long, coord.ErrUnavailable)})
		m.awaitFault(jobtype.FaultStore, "")
		says.Remove()
		m.awaitSound()
		said := logged.messages()
		if len(logged.says(atFault)) < 2 || !slices.Contains(said, "recovered") {
			t.Errorf("the log says %q", said)
		}
		for i, size := range logged.sizes() {
			if most := map[bool]int{true: 2500, false: 700}[said[i] == atFault]; size > most {
				t.Errorf("%q has %d bytes", said[i], size)
			}
		}
		c.check()
	})
}
