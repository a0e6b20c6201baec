package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
)

// progress is what the program says meanwhile. It calls on for each text.
type progress struct {
	mu   sync.Mutex
	text bytes.Buffer
	on   func(text string)
}

func (p *progress) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.on != nil {
		p.on(string(text))
	}
	return p.text.Write(text)
}

// measured runs the program and decodes its report. What runs late on a busy machine
// differs, so it checks only that the figures agree with each other.
func measured(t *testing.T, args ...string) report {
	t.Helper()
	var out bytes.Buffer
	var p progress
	status := load(t.Context(), append(args, "-json"), &out, &p)
	var r report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("status %d, %v:\n%s", status, err, p.text.String())
	}
	n := r.Runs
	if want := r.Options.Jobs * r.Options.Items * r.Ticks; n.Expected != want {
		t.Errorf("%d jobs of %d items with %d ticks: %d executions expected", r.Options.Jobs, r.Options.Items, r.Ticks, n.Expected)
	}
	if n.Executions+n.Missed != n.Expected+n.Twice+n.FailedOver+n.Stray {
		t.Errorf("the executions do not add up: %+v", n)
	}
	if good := r.broken() == ""; good != (status == statusGood) {
		t.Errorf("status %d with %q", status, r.broken())
	}
	if l := r.Late; l.P50 > l.P90 || l.P90 > l.P99 || l.P99 > l.Max {
		t.Errorf("late: %v", l)
	}
	if r.Start.Seconds <= 0 || r.Assigned < r.Start.Seconds || r.Shutdown.Seconds <= 0 || r.Seconds <= 0 || len(r.RSS) == 0 || r.Memory.Goroutines <= 0 {
		t.Errorf("figures are missing: %+v", r)
	}
	return r
}

func TestEtcd(t *testing.T) {
	t.Parallel()
	r := measured(t, "-jobs", "3", "-items", "2", "-processes", "2", "-warm", "0s", "-for", "3s", "-bare", "-group", "10")
	if r.Ticks != 3 || len(r.RSS) != 2 || r.Runs.Executions == 0 {
		t.Errorf("%d ticks, %d processes, %d executions", r.Ticks, len(r.RSS), r.Runs.Executions)
	}
	if r.First == nil || r.Last == nil || r.First.P50 > r.Last.P50 {
		t.Errorf("first %v, last %v", r.First, r.Last)
	}
	if r.Commits.PerSecond <= 0 || r.Commits.Requests == nil || *r.Commits.Requests <= 0 || r.CPU.Store == nil {
		t.Errorf("the store's figures are missing: %+v", r.Commits)
	}
	if b := r.Bare; b == nil || b.Rate <= 0 || b.PerRequest == nil || *b.PerRequest != 10 {
		t.Errorf("bare client: %+v", b)
	}
}

func TestZooKeeper(t *testing.T) {
	t.Parallel()
	zkserver.Require(t)
	r := measured(t, "-store", zkStore, "-jobs", "3", "-warm", "0s", "-for", "1s")
	if r.Ticks != 1 || r.Commits.Requests != nil || r.CPU.Store == nil {
		t.Errorf("%d ticks, %+v, %+v", r.Ticks, r.Commits, r.CPU)
	}
}

// A process that joins gets its share.
func TestJoin(t *testing.T) {
	t.Parallel()
	r := measured(t, "-jobs", "2", "-items", "10", "-idle", "-warm", "0s", "-for", "2s", "-event", eventJoin)
	if len(r.RSS) != 2 || r.Runs.Executions != 0 {
		t.Errorf("%d processes, %d executions of idle jobs", len(r.RSS), r.Runs.Executions)
	}
	if e := r.Event; e == nil || e.Took <= 0 || e.Settled < e.FirstChange || e.Even && e.Settled <= 0 {
		t.Errorf("%+v", e)
	}
}

// A store of somebody else is left as it was, also after an interrupt.
func TestLeavesNothing(t *testing.T) {
	t.Parallel()
	server := etcdserver.Start(t, etcdserver.Config{})
	args := []string{"-endpoints", server.Endpoints()[0], "-jobs", "3", "-warm", "0s"}
	left := func() []string {
		read, err := server.Admin().Get(t.Context(), "", clientv3.WithPrefix(), clientv3.WithKeysOnly())
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, kv := range read.Kvs {
			keys = append(keys, string(kv.Key))
		}
		return keys
	}
	measured(t, append(args, "-for", "1s", "-bare")...)
	if keys := left(); len(keys) > 0 {
		t.Errorf("left in the store: %q", keys)
	}

	ctx, interrupt := context.WithCancel(t.Context())
	p := progress{on: func(text string) {
		if strings.Contains(text, "figures") {
			interrupt()
		}
	}}
	var out bytes.Buffer
	if status := load(ctx, append(args, "-for", "1h"), &out, &p); status != statusBroken || out.Len() > 0 {
		t.Errorf("status %d after an interrupt, and %q", status, out.String())
	}
	if keys := left(); len(keys) > 0 {
		t.Errorf("left in the store: %q", keys)
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	var p progress
	load(t.Context(), []string{"-jobs", "1", "-warm", "0s", "-for", "1s"}, &out, &p)
	for _, row := range []string{"store", "machine", "load", "start", "executions", "commits", "CPU", "memory", "shutdown"} {
		if !strings.Contains("\n"+out.String(), "\n"+row+" ") {
			t.Errorf("no row %q in\n%s%s", row, out.String(), p.text.String())
		}
	}
}
