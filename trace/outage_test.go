package trace_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"reflect"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace"
)

var outage = flag.Int("outage", 6_000, "how many executions there are while the sink is away; 1,000 in a second")

// away is a sink that does not work until it is back. Then it counts.
type away struct {
	mu             sync.Mutex
	back           bool
	left           int // batches that it keeps although it is away
	events, missed int
}

func (a *away) Write(_ context.Context, b trace.Batch) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.back && a.left == 0 {
		return errors.New("away")
	}
	a.left--
	for _, e := range b.Events {
		a.events++
		if e.Kind == jobtype.EventMissed {
			a.missed += e.Ticks
		}
	}
	return nil
}

func (a *away) set(back bool, left int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.back, a.left = back, left
}

// With the default options nothing is lost in ten minutes without a sink, at 1,000 executions a
// second, and what waits takes little room.
//
//	go test ./trace -run Outage -outage 600000 -v
func TestOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &away{}
		r := newRecorder(t, s, trace.Options{})
		o := r.Observer()
		before, peak := heap(true), uint64(0)
		for n := range *outage {
			e := job.Event{Time: time.Now().Add(time.Duration(n%1000) * 997_331), JobName: fmt.Sprintf("job-%d", n%50), InstanceID: "10.0.0.1@-@4711"}
			e.Execution = job.Execution{TaskID: uuid.Must(uuid.NewV7()).String(), Item: n % 16, ScheduledTime: e.Time.Truncate(time.Second), Source: job.SourceNormal, Token: int64(n)}
			o(as(e, jobtype.EventClaimed))
			e.Waited = time.Duration(n%1000) * time.Microsecond
			o(as(e, jobtype.EventStarted))
			e.Outcome, e.Attempt, e.Took = job.OutcomeOK, 1, time.Duration(n*7919%1e6)*time.Microsecond
			o(as(e, jobtype.EventFinished))
			if n%1000 == 0 {
				pass(time.Second)
				peak = max(peak, heap(false))
			}
		}
		synctest.Wait()
		stats := r.Stats()
		t.Logf("%d executions: %d events, %.1f MiB counted, %.1f MiB of heap, %.1f MiB at most before a collection",
			*outage, stats.Queued.Events, mib(stats.Bytes), mib(heap(true)-before), mib(peak-before))
		if stats.Overflowed != (trace.Count{}) || stats.Queued.Events != 3**outage {
			t.Errorf("%+v", stats)
		}
		if each := stats.Bytes / stats.Queued.Events; each > 150 {
			t.Errorf("an event takes %d bytes", each)
		}
		s.set(true, 0)
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if s.events != 3**outage || s.missed > 0 {
			t.Errorf("%d events, %d missed", s.events, s.missed)
		}
	})
}

// However the queue grows and shrinks, what waits for long is packed.
func TestWhatWaitsIsPacked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &away{}
		r := newRecorder(t, s, trace.Options{Batch: 30})
		for n := range 600 { // 60 batches
			if n == 300 {
				s.set(false, 15)
				pass(time.Minute) // it asks again
			}
			tellExecution(r.Observer(), "settle", n)
			synctest.Wait()
		}
		stats := r.Stats()
		if most := 9*30*trace.EventSize + 36*30*80; stats.Queued.Events != 1800-15*30 || stats.Bytes > most {
			t.Errorf("%+v, want at most %d bytes", stats, most)
		}
		s.set(true, 0)
		if err := r.Close(t.Context()); err != nil || s.events != 1800 {
			t.Errorf("%v, %d events", err, s.events)
		}
	})
}

func mib[N int | uint64](bytes N) float64 { return float64(bytes) / (1 << 20) }

func heap(collect bool) uint64 {
	if collect {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// An event takes no more than what the queue counts for it.
func TestSizeOfAnEvent(t *testing.T) {
	if size := reflect.TypeFor[trace.Event]().Size() + 100; size > trace.EventSize { // with the texts of an execution, which its events share
		t.Errorf("an event takes %d bytes", size)
	}
}
