package jobtest_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtest"
	"github.com/elasticjob-go/elasticjob/ops"
)

// patience bounds each wait in real time.
const patience = time.Minute

// peer is the other end of connections.
type peer struct {
	address string
	asked   chan struct{} // gets one for each connection
	answer  func()        // answers all, by closing them
}

// newPeer serves until the end of the test.
func newPeer(t *testing.T) *peer {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	answered := make(chan struct{})
	p := &peer{l.Addr().String(), make(chan struct{}, 10), sync.OnceFunc(func() { close(answered) })}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			p.asked <- struct{}{}
			serving.Go(func() {
				<-answered
				_ = conn.Close()
			})
		}
	})
	t.Cleanup(func() {
		p.answer()
		_ = l.Close()
		serving.Wait()
	})
	return p
}

// asks is a handler that waits for the peer, over a connection of its own, or until its context ends.
func (p *peer) asks(ctx context.Context, _ job.ShardingContext) error {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", p.address)
	if err != nil {
		return errors.Join(context.Cause(ctx), err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	_, err = io.Copy(io.Discard, conn)
	return errors.Join(context.Cause(ctx), err)
}

// asking starts a job on two processes in real time, and asks for a tick of the past. It returns when one of
// them waits for the peer: first.
func asking(t *testing.T, p *peer) (c *jobtest.Cluster, first *jobtest.Process) {
	c = jobtest.RealTime(t)
	cfg := every("0 0 3 * * ?")
	cfg.TimeZone = "UTC"
	one, two := c.Process("10.0.0.1"), c.Process("10.0.0.2")
	one.Schedule(cfg, job.HandlerFunc(p.asks))
	two.Schedule(cfg, job.HandlerFunc(p.asks))
	if _, err := c.Ops().Job("j").Pause(t.Context(), ops.PauseRequest{}); err != nil { // no tick comes by itself
		t.Fatal(err)
	}
	tick := time.Date(2020, 1, 1, 3, 0, 0, 0, time.UTC)
	if _, err := c.Ops().Job("j").Backfill(t.Context(), ops.BackfillRequest{From: tick, To: tick}); err != nil {
		t.Fatal(err)
	}
	c.Until(patience, func() bool { return c.Executions().Running().Len() == 1 && len(p.asked) == 1 })
	if c.Executions().On("10.0.0.1").Len() == 1 {
		return c, one
	}
	return c, two
}

// Faults do in real time what they do in a bubble, while handlers wait for the network.
func TestFaultsInRealTime(t *testing.T) {
	for name, test := range map[string]struct {
		fault func(*jobtest.Cluster, *jobtest.Process)
		cause error // of the end of the execution that it hits
	}{
		"dies":              {func(_ *jobtest.Cluster, in *jobtest.Process) { in.Die() }, jobtest.ErrDied},
		"loses its session": {func(_ *jobtest.Cluster, in *jobtest.Process) { in.LoseSession() }, coord.ErrSessionLost},
		"is cut off":        {func(_ *jobtest.Cluster, in *jobtest.Process) { in.CutOff(patience) }, coord.ErrSessionLost},
		"is shut down":      {func(_ *jobtest.Cluster, in *jobtest.Process) { _ = in.Shutdown(time.Millisecond) }, job.ErrShutdown},
		"the store is away": {func(c *jobtest.Cluster, _ *jobtest.Process) { c.StoreAway(1500 * time.Millisecond) }, coord.ErrSessionLost},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t)
			c, first := asking(t, p)
			test.fault(c, first)
			c.Until(patience, func() bool {
				return c.Executions().Source(job.SourceFailover).Running().Len() == 1 && c.Executions().Outcome(job.OutcomeCut).Len() == 1
			})
			cut, again := c.Executions().Outcome(job.OutcomeCut).One(t), c.Executions().Running().One(t)
			if !errors.Is(cut.Err, test.cause) || !again.ScheduledTime.Equal(cut.ScheduledTime) {
				t.Errorf("%v: %v\n%s", again, cut, c.Recorder())
			}
			p.answer()
			c.Until(patience, func() bool { return c.Executions().Outcome(job.OutcomeOK).Len() == 1 })
			c.Executions().Require(t, 2)
			jobtest.TokensGrow(t, c.Executions())
		})
	}
}

// An execution has the times of the right clock, whatever the clock of its process shows.
func TestClockOffInRealTime(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	c := jobtest.RealTime(t)
	in := c.Process("10.0.0.1")
	in.ClockOff(time.Hour)
	s := in.Schedule(every(""), lasts(0))
	if _, err := s.Trigger(t.Context(), job.TriggerRequest{}); err != nil {
		t.Fatal(err)
	}
	c.Until(patience, func() bool { return c.Executions().Outcome(job.OutcomeOK).Len() == 1 })
	c.Advance(time.Millisecond)
	if e := c.Executions().One(t); e.Began.Before(begin.Round(0)) || e.Began.After(time.Now()) {
		t.Errorf("began at %v", e.Began)
	}
}

func TestRealTimeRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failure := failureOf(t, func(t testing.TB) { jobtest.RealTime(t) })
		if !strings.Contains(failure, "NewCluster") {
			t.Error(failure)
		}
	})
	if _, isBounded := t.Deadline(); !isBounded {
		return
	}
	failure := failureOf(t, func(tb testing.TB) {
		c := jobtest.RealTime(tb)
		c.Advance(1000 * time.Hour)
	})
	if !strings.Contains(failure, "Advance(1000h0m0s)") || !strings.Contains(failure, "-timeout") {
		t.Error(failure)
	}
}

// Until ends a test before go test -timeout does, which would show no history.
func TestUntilEndsBeforeTheTestsDo(t *testing.T) {
	failure := failureOf(t, func(tb testing.TB) {
		jobtest.RealTime(hurried{tb, time.Now().Add(time.Second)}).Until(time.Hour, func() bool { return false })
	})
	if !strings.Contains(failure, "has not happened in") || !strings.Contains(failure, "ms") {
		t.Error(failure)
	}
}

// hurried is a test that has to end at a time.
type hurried struct {
	testing.TB
	end time.Time
}

func (h hurried) Deadline() (time.Time, bool) { return h.end, true }
