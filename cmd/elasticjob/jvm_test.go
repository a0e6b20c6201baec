package main

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/target"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

// Beside a JVM member, a trigger says what it runs besides, a change says what it does otherwise, and the
// doctor says who it is.
func TestBesideAJVMMember(t *testing.T) {
	t.Parallel()
	p := person{store: servers.store(t, "etcd") + "/mixed"}
	w, err := startWorker(t.Context(), p.store, "10.0.0.1", "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.end(); err != nil {
			t.Errorf("worker: %v", err)
		}
	}()
	run := func(want exit.Code, args ...string) string {
		t.Helper()
		if got := p.run(t.Context(), args...); got != want {
			t.Fatalf("%v: got %d, want %d: %s%s", args, got, want, &p.out, &p.err)
		}
		return p.out.String()
	}
	run(exit.Done, "update", "report", "--set", "shardingTotalCount=4")
	reg := p.registry(t)
	const jvm = "10.0.0.9@-@1234"
	if _, err := reg.Commit(t.Context(), coord.Put("report/servers/10.0.0.9", []byte("ENABLED")), coord.CreateEphemeral("report/instances/"+jvm, []byte("jobInstanceId: "+jvm+"\nserverIp: 10.0.0.9\n"))); err != nil {
		t.Fatal(err)
	}
	var theirs []string
	for end := time.Now().Add(patience); len(theirs) != 2; {
		theirs = nil
		for i := range 4 {
			if n, err := reg.Get(t.Context(), "report/sharding/"+strconv.Itoa(i)+"/instance"); err == nil && string(n.Value) == jvm {
				theirs = append(theirs, strconv.Itoa(i))
			}
		}
		if time.Now().After(end) || !sleep.For(t.Context(), 20*time.Millisecond) {
			t.Fatalf("the JVM member has items %v", theirs)
		}
	}
	for _, how := range [][]string{{"--dry-run"}, nil} {
		out := run(exit.Done, append([]string{"trigger", "report", "--items", theirs[0]}, how...)...) + p.err.String()
		for _, want := range []string{"JVM members run all of their items", jvm, "although they were not asked for: items " + theirs[1]} {
			if !strings.Contains(out, want) {
				t.Errorf("%v: no %q in %s", how, want, out)
			}
		}
	}
	if out := run(exit.Done, "update", "report", "--set", "timeout=1m", "--dry-run") + p.err.String(); !strings.Contains(out, "JVM members run an item as long as it takes") {
		t.Errorf("update: %s", out)
	}
	if out := run(exit.Done, "doctor", "report", "--wait", "1s"); !strings.Contains(out, "mixed") || !strings.Contains(out, "rules in force: record JVM runs") {
		t.Errorf("doctor: %s", out)
	}

	// A job by a name that only a JVM can use.
	if _, err := reg.Commit(t.Context(), coord.Put("订单 任务/config", []byte("jobName: 订单 任务\ncron: 0 0 3 * * ?\nshardingTotalCount: 1\n")),
		coord.Put("订单 任务/servers/10.0.0.9", []byte("ENABLED")), coord.Put("订单 任务/sharding/0/instance", []byte(jvm)),
		coord.CreateEphemeral("订单 任务/sharding/0/running", nil), coord.CreateEphemeral("订单 任务/instances/"+jvm, nil)); err != nil {
		t.Fatal(err)
	}
	if out := run(exit.Done, "jobs"); !strings.Contains(out, "订单 任务") || !strings.Contains(out, "JVM members only") {
		t.Errorf("jobs: %s", out)
	}
	if out := run(exit.Done, "doctor", "订单 任务", "--wait", "1s"); !strings.Contains(out, "jvm-only") || strings.Contains(out, "remove it") {
		t.Errorf("doctor: %s", out)
	}
	run(exit.NotFound, "trigger", "订单 任务")
	if !strings.Contains(p.err.String(), "the name is not one that a job can have") {
		t.Errorf("trigger: %s", &p.err)
	}

	// What a file cannot say of a job is not lost without a word.
	if _, err := reg.Commit(t.Context(), coord.Put("traced", []byte("com.example.Traced")), coord.Put("traced/config", []byte("jobName: traced\nshardingTotalCount: 1\njobExtraConfigurations: [{type: RDB}]\n"))); err != nil {
		t.Fatal(err)
	}
	if out := run(exit.Done, "export", "traced"); !strings.Contains(out, "com.example.Traced") || !strings.Contains(p.err.String(), "warning: not in the file: job traced: \"jobExtraConfigurations\": files have no such key") {
		t.Errorf("export: %s%s", out, &p.err)
	}
}

// registry connects to the store of a person, until the test ends.
func (p *person) registry(t *testing.T) coord.Registry {
	t.Helper()
	at, err := target.Settings{Store: p.store}.Target()
	if err != nil {
		t.Fatal(err)
	}
	reg, err := dial(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := reg.Close(context.Background()); err != nil { // the context of the test has ended
			t.Error(err)
		}
	})
	return reg
}
