package job_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/doctor"
)

// Somebody writes much below one job. A runner that serves the namespace starts, its jobs run, and who watches the namespace
// holds none of it. The list and the doctor name it.
func TestJunkBelowAJob(t *testing.T) {
	const junk, size, most = 100, 900_000, 40 << 20
	s := etcdStore(t)
	namespace := fmt.Sprintf("junk-%d", time.Now().UnixNano())
	open := func() coord.Registry {
		reg, _ := s.dial(t, namespace, time.Minute)
		t.Cleanup(func() {
			if err := reg.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
		return reg
	}
	runs, creates := open(), open()
	value := make([]byte, size)
	for i := range junk {
		if _, err := creates.Commit(t.Context(), coord.Put(fmt.Sprintf("job-0/faults/%d", i), value)); err != nil {
			t.Fatal(err)
		}
	}
	before := heapHeld()
	check := func(what string) {
		t.Helper()
		if now := heapHeld(); now > before+most {
			t.Errorf("%s: %d MiB are held, and %d before", what, now>>20, before>>20)
		}
	}
	r := newThrong(t, runs, creates)
	r.come(2)
	check("runner")
	for update, err := range r.ops.Watch(t.Context(), time.Second) {
		if err != nil {
			t.Fatal(err)
		}
		check("watch")
		for _, j := range update.Jobs {
			if isNamed := strings.Contains(j.Fault, fmt.Sprintf("%d nodes are too large", junk)); isNamed != (j.Name == "job-0") {
				t.Errorf("%s has the fault %q", j.Name, j.Fault)
			}
		}
		break
	}
	d, err := r.ops.Job("job-0").Describe(t.Context())
	if err != nil || len(d.Faults) != 1 || d.Faults[0].Instance != "" {
		t.Errorf("%+v, %v", d, err)
	}
	list, err := r.ops.Jobs(t.Context(), ops.JobsQuery{Faulty: true})
	if err != nil || len(list.Jobs) != 1 || list.Jobs[0].Name != "job-0" {
		t.Errorf("%+v, %v", list, err)
	}
	report, err := doctor.Examine(t.Context(), creates, doctor.Options{Wait: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, f := range report.Findings {
		if f.Kind == doctor.NodeTooLarge && f.Job == "job-0" && f.Path == "job-0/faults/0" {
			found++
		}
	}
	if found != 1 {
		t.Errorf("%+v", report.Findings)
	}
	check("all")
	r.leave(2)
}

// heapHeld returns how many bytes of memory are in use.
func heapHeld() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
