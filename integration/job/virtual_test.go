package job_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// inVirtualTime runs a test on the simulator only: one that takes hours, or needs a store that
// fails as the test wants.
func inVirtualTime(t *testing.T, behaviour func(*testing.T, *cluster, *memory.Store)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newMemoryStore(t).(memoryStore)
		behaviour(t, newCluster(t, s, "settle"), s.Store)
	})
}

// runInVirtualTime runs a subtest on the simulator.
func runInVirtualTime(t *testing.T, name string, behaviour func(*testing.T, *cluster, *memory.Store)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { inVirtualTime(t, behaviour) })
}

// pass lets time pass.
func (c *cluster) pass(d time.Duration) {
	c.Helper()
	c.must(elapse(c.Context(), d))
}

// awaitStatus waits until the status of an instance is as wanted, and returns it.
func (m *member) awaitStatus(what string, ok func(job.Status) bool) job.Status {
	m.c.Helper()
	timeout := time.NewTimer(m.c.patience())
	defer timeout.Stop()
	for {
		changed := m.Changed()
		status := m.Status()
		if ok(status) {
			return status
		}
		select {
		case <-m.Done(): // the status does not change after that
			m.c.Fatalf("it has ended with %v, and not seen is: %s; the status is %+v", m.Err(), what, status)
		case <-changed:
		case <-timeout.C:
			m.c.Fatalf("not seen in %v: %s; the status is %+v\n%s%s", m.c.patience(), what, status, m.c.dump(), m.c.record)
		}
	}
}

// faultOf returns the fault of a kind, or nil.
func faultOf(s job.Status, kind job.FaultKind) error {
	for _, f := range s.Faults {
		if f.Kind == kind {
			return f
		}
	}
	return nil
}

// awaitFault waits until an instance has a fault of a kind.
func (m *member) awaitFault(kind job.FaultKind, says string) job.Status {
	m.c.Helper()
	return m.awaitStatus(fmt.Sprintf("%v fault that says %q", kind, says), func(s job.Status) bool {
		err := faultOf(s, kind)
		return err != nil && strings.Contains(err.Error(), says)
	})
}

// awaitFaultOver waits until an instance has no fault of a kind any more.
func (m *member) awaitFaultOver(kind job.FaultKind) {
	m.c.Helper()
	m.awaitStatus(fmt.Sprintf("no %v fault", kind), func(s job.Status) bool { return faultOf(s, kind) == nil })
}

// awaitSound waits until an instance has no fault.
func (m *member) awaitSound() job.Status {
	m.c.Helper()
	return m.awaitStatus("no fault", func(s job.Status) bool { return len(s.Faults) == 0 })
}

// logbook has the lines that a scheduler has logged.
type logbook struct{ *observer.ObservedLogs }

// newLogbook returns a logbook, and an option that makes a scheduler write to it, at info level
// and above.
func newLogbook() (logbook, job.Option) {
	core, logged := observer.New(zapcore.InfoLevel)
	return logbook{logged}, job.WithLogger(zap.New(core))
}

// says returns the fields of the lines with this message.
func (l logbook) says(message string) []map[string]any {
	var lines []map[string]any
	for _, e := range l.FilterMessage(message).All() {
		lines = append(lines, e.ContextMap())
	}
	return lines
}

// messages returns the messages of all lines.
func (l logbook) messages() []string {
	var list []string
	for _, e := range l.All() {
		list = append(list, e.Message)
	}
	return list
}

// sizes returns how many bytes the fields of each line have.
func (l logbook) sizes() []int {
	var list []int
	for _, e := range l.All() {
		list = append(list, len(fmt.Sprint(e.ContextMap())))
	}
	return list
}

// of returns the lines about a kind of fault.
func (l logbook) of(message string, kind job.FaultKind) int {
	n := 0
	for _, fields := range l.says(message) {
		if fields["kind"] == kind.String() {
			n++
		}
	}
	return n
}

const (
	atFault   = "job is at fault"
	faultOver = "fault is over"
)

// of returns a function that matches executions of these items.
func of(items ...int) func(execution) bool {
	return func(e execution) bool { return slices.Contains(items, e.Item) }
}

func anything(execution) bool { return true }

// firedAt waits until an item has begun a tick that is not before the time.
func (c *cluster) firedAt(item int, when time.Time) {
	c.Helper()
	c.awaitRuns(fmt.Sprintf("item %d after %v", item, when), 1, func(e execution) bool {
		return e.Item == item && !e.begin.Before(when)
	})
}

// ownedBy waits until an instance has that many items.
func (c *cluster) ownedBy(ip string, total, n int) {
	c.Helper()
	c.await(fmt.Sprintf("%s has %d items", ip, n), func(s *jobtree.State) bool { return len(owners(s, total)[ip]) == n })
}
