package jobtest

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
)

// ErrDied is the error of an execution whose instance died.
var ErrDied = errors.New("jobtest: the instance died")

// Bounds of what a Recorder keeps. It misses what comes then, and every check fails.
const (
	MaxRecords = 1_000_000 // executions, and as many faults and other events
	MaxOutput  = 64 << 20  // bytes of the output of all executions together
)

// Recorder keeps what schedulers tell their observers. A [Cluster] has one; it can also be used
// alone, on any store:
//
//	rec := jobtest.NewRecorder()
//	s, err := job.Schedule(ctx, reg, cfg, handler, job.WithObserver(rec.Observer()))
//	…
//	rec.Until(t, time.Minute, func() bool { return rec.Executions().Outcome(job.OutcomeOK).Len() == 3 })
//
// Observers are told a moment later. Outside of a bubble a check right after an event may
// come too early: wait with Until. Its methods may be called from any goroutine.
type Recorder struct {
	mu         sync.Mutex
	executions []*execution          // in the order in which they began
	running    map[string]*execution // by task id
	faults     []*fault              // in the order in which they began
	lasting    map[faultKey]*fault   // those that are not over
	events     []event               // all others
	count      int                   // of all of them: each has a number, in the order in which they were told
	output     int                   // bytes of the output of all executions
	missed     int                   // what was dropped, here or by a scheduler
	most       int                   // MaxRecords
	changed    chan struct{}         // closed at the next change
}

// execution and fault are what a witness has told. The number is their place in the history.
type execution struct {
	Execution
	by     *witness
	number int
}

type fault struct {
	Fault
	by     *witness
	number int
}

// faultKey names a fault: an instance has one of a kind at most. Its id may change meanwhile.
type faultKey struct {
	by           *witness
	job, address string
	kind         job.FaultKind
}

// event is a line of the history that is neither an execution nor a fault.
type event struct {
	at       time.Time
	job      string
	instance string
	text     string
	number   int
}

// NewRecorder returns a recorder that knows nothing yet.
func NewRecorder() *Recorder {
	return &Recorder{running: map[string]*execution{}, lasting: map[faultKey]*fault{}, changed: make(chan struct{}), most: MaxRecords}
}

// Executions returns all executions so far.
func (r *Recorder) Executions() Executions {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := Executions{recorder: r}
	for _, e := range r.executions {
		all.list = append(all.list, e.Execution)
	}
	return all
}

// Faults returns all faults so far.
func (r *Recorder) Faults() Faults {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := Faults{recorder: r}
	for _, f := range r.faults {
		all.list = append(all.list, f.Fault)
	}
	return all
}

// Until waits until ok returns true, which is asked after each event, and every 100 ms. It ends
// the test if that takes longer than the limit. The failure shows the whole history.
func (r *Recorder) Until(t testing.TB, limit time.Duration, ok func() bool) {
	t.Helper()
	r.until(t, limit, func() {}, ok)
}

// until is Until. settle is called before each question.
func (r *Recorder) until(t testing.TB, limit time.Duration, settle func(), ok func() bool) {
	t.Helper()
	const pause = 100 * time.Millisecond
	for end := time.Now().Add(limit); ; {
		changed := r.change()
		settle()
		if ok() {
			return
		}
		left := time.Until(end)
		if left <= 0 {
			t.Fatalf("jobtest: what Until waits for has not happened in %v\n%s", limit, r)
		}
		timer := time.NewTimer(min(left, pause))
		select {
		case <-changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// change returns a channel that is closed at the next change.
func (r *Recorder) change() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed
}

// requireAll fails the test if something was missed: then no count is right.
func (r *Recorder) requireAll(t testing.TB) {
	t.Helper()
	r.mu.Lock()
	missed := r.missed
	r.mu.Unlock()
	if missed > 0 {
		t.Errorf("jobtest: the recorder has missed %d events, so what it knows is not all that has happened", missed)
	}
}
