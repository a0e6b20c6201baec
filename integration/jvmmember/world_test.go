package jvmmember_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/integration/jvmmember"
)

// base is a configuration as ElasticJob writes it.
const base = `cron: 0 * * * * ?
failover: true
jobName: settle
maxTimeDiffSeconds: -1
misfire: true
monitorExecution: true
overwrite: false
reconcileIntervalMinutes: 10
shardingItemParameters: ''
shardingTotalCount: 3
staticSharding: false
`

// with is the configuration with other lines for some keys.
func with(lines ...string) string {
	text := base
	for _, line := range lines {
		key, _, _ := strings.Cut(line, ":")
		var kept []string
		for _, old := range strings.SplitAfter(text, "\n") {
			if !strings.HasPrefix(old, key+":") {
				kept = append(kept, old)
			}
		}
		text = strings.Join(kept, "") + line + "\n"
	}
	return text
}

// host is a process: a connection and the member on it.
type host struct {
	*jvmmember.Member
	registry *memory.Registry
}

// world is a store in a bubble with members on it.
type world struct {
	t     *testing.T
	store *memory.Store
	runs  chan jvmmember.Execution
	takes sync.Map // how long an item works, by its number; 2 s unless it is here
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, store: memory.NewStore(memory.Options{}), runs: make(chan jvmmember.Execution, 10_000)}
	t.Cleanup(w.store.Close)
	return w
}

func (w *world) start(n int, document string, change ...func(*jvmmember.Config)) *host {
	w.t.Helper()
	r, err := w.store.Dial(w.t.Context(), memory.Config{Namespace: "test", SessionTimeout: 4 * time.Second})
	if err != nil {
		w.t.Fatal(err)
	}
	c := jvmmember.Config{
		Registry: r, Job: "settle", IP: fmt.Sprintf("10.0.0.%d", n), PID: n, Class: "com.example.Settle", Document: []byte(document),
		Release: jvmmember.V304, Work: w.work,
	}
	for _, f := range change {
		f(&c)
	}
	m, err := jvmmember.Start(w.t.Context(), c)
	if err != nil {
		w.t.Fatal(err)
	}
	h := &host{m, r}
	w.t.Cleanup(h.kill)
	return h
}

// work is what an item does: it takes its time.
func (w *world) work(ctx context.Context, e jvmmember.Execution) error {
	w.runs <- e
	d := 2 * time.Second
	if longer, ok := w.takes.Load(e.Item); ok {
		d = longer.(time.Duration)
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// kill ends the process at once, and its session with it.
func (h *host) kill() {
	h.Crash()
	// The session ends in any case, also without an answer.
	_ = h.registry.Close(context.Background())
	<-h.Done()
}

// ran takes what has run so far, as "item member source" in no order.
func (w *world) ran() map[string]int {
	seen := make(map[string]int)
	for {
		select {
		case e := <-w.runs:
			seen[fmt.Sprintf("%d %s %s", e.Item, e.Member, e.Source)]++
		default:
			return seen
		}
	}
}

func (w *world) value(path string) string {
	n, _ := w.store.Snapshot("test").Get(path)
	return string(n.Value)
}

func (w *world) has(path string) bool { return w.store.Snapshot("test").Exists(path) }

func (w *world) commit(r coord.Registry, ops ...coord.Op) {
	w.t.Helper()
	if _, err := r.Commit(w.t.Context(), ops...); err != nil {
		w.t.Fatal(err)
	}
}
