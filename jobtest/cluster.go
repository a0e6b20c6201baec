package jobtest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/ops"
)

// namespace has all jobs of a cluster.
const namespace = "jobtest"

// Cluster is a simulated store and the processes that run jobs on it. It ends with the test.
type Cluster struct {
	t        testing.TB
	isReal   bool          // time passes by itself; otherwise the cluster is in a bubble
	session  time.Duration // the time-out of each session
	store    *memory.Store
	recorder *Recorder
	operator *memory.Registry
	away     spell

	mu        sync.Mutex
	instances []*Process
	ending    sync.WaitGroup // for handlers of instances that have died, and for runners
	isLate    bool           // handlers may be at work although their contexts have ended
	isOver    bool           // the test is: nothing can fail it any more
}

// NewCluster returns a cluster without instances. It lives in a bubble: it is called in the
// function that synctest.Test is given, with the t of that function.
func NewCluster(t testing.TB) *Cluster {
	t.Helper()
	if !inBubble(t) {
		t.Fatal("jobtest: NewCluster needs virtual time: call it in the function that synctest.Test is given, with the t of that function; or RealTime outside of it")
	}
	return newCluster(t, false, 10*time.Second)
}

// RealTime returns a cluster without instances outside of a bubble, for handlers that have connections. Its
// processes, faults and checks are those of [NewCluster], but time passes as it does, and sessions are 1 s long. The
// package comment says how to test in real time.
func RealTime(t testing.TB) *Cluster {
	t.Helper()
	if inBubble(t) {
		t.Fatal("jobtest: RealTime has no use for virtual time: call it outside of synctest.Test, or NewCluster in it")
	}
	return newCluster(t, true, time.Second)
}

func newCluster(t testing.TB, isReal bool, session time.Duration) *Cluster {
	t.Helper()
	c := &Cluster{t: t, isReal: isReal, session: session, store: memory.NewStore(memory.Options{}), recorder: NewRecorder()}
	operator, err := c.store.Dial(context.Background(), memory.Config{Namespace: namespace, Name: "operator"})
	if err != nil {
		t.Fatalf("jobtest: %v", err)
	}
	c.operator = operator
	t.Cleanup(c.end)
	return c
}

// fail fails the test, on any goroutine, unless it is over.
func (c *Cluster) fail(format string, args ...any) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isOver {
		c.t.Errorf(format, args...)
	}
}

// end stops all that runs, as at once as handlers allow.
func (c *Cluster) end() {
	c.away.stop()
	c.store.Up()
	var leaving sync.WaitGroup
	c.mu.Lock()
	instances := slices.Clone(c.instances)
	c.isOver = true
	c.mu.Unlock()
	for _, in := range instances {
		leaving.Go(in.end)
	}
	leaving.Wait()
	c.ending.Wait()
	if c.isLate && !c.isReal {
		time.Sleep(lateTime)
	}
	_ = c.operator.Close(context.Background()) // nobody needs its session any more
	c.store.Close()
}

// left notes how the shutdown of an instance has ended.
func (c *Cluster) left(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isLate = c.isLate || err != nil
	return err
}

// Advance lets time go on, and returns when all that happens by then has happened; in real time some of it
// may come later. It and the other methods that wait are called by the test's own goroutine.
func (c *Cluster) Advance(d time.Duration) {
	c.t.Helper()
	if d < 0 {
		c.t.Fatalf("jobtest: Advance(%v): time does not go back", d)
	}
	if left, isBounded := c.timeLeft(); isBounded && d > left {
		c.t.Fatalf("jobtest: Advance(%v): time is real, and go test -timeout ends the tests before", d)
	}
	time.Sleep(d)
	c.settle()
}

// timeLeft returns how long go test -timeout lets the tests go on. It reports false in a bubble, and without a time-out.
func (c *Cluster) timeLeft() (time.Duration, bool) {
	timed, ok := c.t.(interface{ Deadline() (time.Time, bool) })
	if !ok || !c.isReal {
		return 0, false
	}
	end, ok := timed.Deadline()
	return time.Until(end), ok
}

// settle waits until all that happens at this instant has happened. In real time nobody can know that.
func (c *Cluster) settle() {
	if !c.isReal {
		synctest.Wait()
	}
}

// AdvanceTo lets time go on to a moment. A bubble begins at midnight UTC of 2000-01-01: to test
// another time, such as a change of clocks, go there before the first job starts.
func (c *Cluster) AdvanceTo(at time.Time) {
	c.t.Helper()
	c.Advance(time.Until(at))
}

// Until lets time go on until ok returns true, which is asked after each event of a job, and
// every 100 ms. It ends the test if that takes longer than the limit; in real time also when nine
// tenths of what go test -timeout leaves are over, which would show nothing. The failure shows the
// whole history.
func (c *Cluster) Until(limit time.Duration, ok func() bool) {
	c.t.Helper()
	if left, isBounded := c.timeLeft(); isBounded {
		limit = min(limit, (left / 10 * 9).Round(time.Millisecond))
	}
	c.recorder.until(c.t, limit, c.settle, ok)
}

// Recorder returns what has happened in the cluster.
func (c *Cluster) Recorder() *Recorder { return c.recorder }

// Executions returns the executions so far, on all instances.
func (c *Cluster) Executions() Executions { return c.recorder.Executions() }

// Faults returns the faults so far, of all instances.
func (c *Cluster) Faults() Faults { return c.recorder.Faults() }

// Ops returns the operations on the jobs of the cluster: kills, pauses, triggers, backfills,
// calendars. They have a connection of their own.
func (c *Cluster) Ops() *ops.Ops { return ops.New(c.operator).By("jobtest") }

// Store returns the simulated store, for faults that the cluster has no method for. The name of
// an instance's registry, for [memory.Fault], is its address; all have the namespace jobtest.
func (c *Cluster) Store() *memory.Store { return c.store }

// StoreAway takes the store away from all, for so long from now on. It returns at once. Sessions
// end meanwhile as on real stores, but those that are left count anew when the store is back.
func (c *Cluster) StoreAway(d time.Duration) {
	c.t.Helper()
	c.away.stop()
	c.recorder.tell("store", "is away for "+d.String())
	c.store.Down()
	c.away.begin(d, func() {
		c.store.Up()
		c.recorder.tell("store", "is back")
	})
}
