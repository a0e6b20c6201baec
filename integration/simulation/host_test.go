package simulation

import (
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// host is one process, from its start to its end: one registry, and a scheduler for
// each job of its group.
type host struct {
	group  *group
	name   string // unique
	ip     string
	offset atomic.Int64                  // of its clock, as a duration
	gate   atomic.Pointer[chan struct{}] // its handlers wait until it is closed; nil is none
	weight int
	knows  bool          // whether it knows the strategy newOne
	early  time.Duration // how long before their tick it claims items; 0 is as long as claims take

	follows *host // the process that it restarts: it starts when that is gone

	ctx     context.Context // ends when it is to go, with errLeave, or dies, with errKilled
	cancel  context.CancelCauseFunc
	done    chan struct{} // closed when it is gone
	ended   chan struct{} // closed when one of its schedulers stopped
	end     func()
	trouble trouble
	expired atomic.Int64 // revision at which its session was removed at the store
	dawdled atomic.Bool  // one of its handlers returned late after its context had ended
	blind   atomic.Bool  // its views have ended, which ends its schedulers

	mu         sync.Mutex
	registry   *memory.Registry
	schedulers []*job.Scheduler // in the order of the group's jobs
	drain      time.Duration
}

var (
	errLeave  = errors.New("told to leave")
	errKilled = errors.New("killed")
)

// troubledSince reports whether anything was done to the process, or to the store, at
// that time or later.
func (h *host) troubledSince(at time.Time) bool {
	return h.trouble.since(at) || h.group.sim.outage.since(at)
}

// expiredBy reports whether the session that a claim was made in was removed at the store.
func (h *host) expiredBy(token int64) bool { return token <= h.expired.Load() }

// stopped reports whether one of its schedulers has stopped.
func (h *host) stopped() bool {
	select {
	case <-h.ended:
		return true
	default:
		return false
	}
}

// run is the life of the process.
func (h *host) run() {
	defer close(h.done)
	// A profile tells the shapes apart (go tool pprof -tagfocus).
	pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels("shape", h.group.shape.name)))
	if h.follows != nil {
		<-h.follows.done
		h.follows = nil
	}
	reg, err := h.dial()
	if err != nil {
		return
	}
	h.mu.Lock()
	h.registry = reg
	h.mu.Unlock()
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := reg.Close(ctx); err != nil && !h.troubledSince(time.Now().Add(-5*time.Second)) {
			h.group.violated("close of %s: %v", h.name, err)
		}
	}()
	for i, j := range h.group.jobs {
		s, err := h.schedule(reg, j)
		if err != nil {
			break // it was told to go
		}
		h.mu.Lock()
		h.schedulers[i] = s
		h.mu.Unlock()
		h.group.sim.working.Go(func() {
			<-s.Done()
			h.end()
		})
	}
	select {
	case <-h.ctx.Done():
	case <-h.ended: // a process whose job has stopped ends, and the group starts another one
		h.checkEnd()
	}
	h.shutdown()
}

// dial opens the registry, as often as it takes.
func (h *host) dial() (*memory.Registry, error) {
	for {
		reg, err := h.group.sim.store.Dial(h.ctx, memory.Config{Namespace: namespace, Name: h.name, SessionTimeout: h.group.shape.session})
		if err == nil {
			return reg, nil
		}
		if elapse(h.ctx, time.Second) != nil {
			return nil, err
		}
	}
}

// schedule starts one scheduler, as often as it takes.
func (h *host) schedule(reg *memory.Registry, j *jobModel) (*job.Scheduler, error) {
	options := []job.Option{job.WithIP(h.ip), job.WithWeight(h.weight)}
	if h.early > 0 {
		options = append(options, job.WithEarlyClaims(h.early))
	}
	options = append(options, setup.Clock(func() time.Time { return time.Now().Add(time.Duration(h.offset.Load())) }))
	if h.knows {
		known, err := strategy.Lookup("", nil)
		if err != nil {
			return nil, err
		}
		options = append(options, job.WithStrategy(newOne, known))
	}
	for {
		s, err := job.Schedule(h.ctx, reg, j.config, h.handler(j), options...)
		if err == nil {
			return s, nil
		}
		if h.ctx.Err() != nil {
			return nil, err
		}
		refused, _ := errors.AsType[*job.ConfigError](err) // why it does not start
		if refused == nil && !h.troubledSince(time.Now().Add(-time.Minute)) {
			h.group.violated("start of %s on %s, to which nothing happened: %v", j.config.Name, h.name, err)
		}
		if waited := elapse(h.ctx, time.Second); waited != nil {
			return nil, waited
		}
	}
}

// checkEnd checks that schedulers stopped for a reason that is allowed.
func (h *host) checkEnd() {
	for _, s := range h.running() {
		err := s.Err()
		if err == nil || errors.Is(err, job.ErrInstanceRemoved) || errors.Is(err, errView) || errors.Is(err, coord.ErrClosed) && h.ctx.Err() != nil {
			continue
		}
		h.group.violated("a scheduler on %s stopped: %v", h.name, err)
	}
}

func (h *host) running() []*job.Scheduler {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []*job.Scheduler
	for _, s := range h.schedulers {
		if s != nil {
			list = append(list, s)
		}
	}
	return list
}

// scheduler returns that of a job, or nil if it has not started.
func (h *host) scheduler(j *jobModel) *job.Scheduler {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.schedulers[j.position]
}

// shutdown stops all schedulers within the time that leave has given.
func (h *host) shutdown() {
	h.mu.Lock()
	drain := h.drain
	h.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), drain)
	defer cancel()
	var stopping sync.WaitGroup
	for _, s := range h.running() {
		stopping.Go(func() {
			ended := h.stopped()
			if err := s.Shutdown(ctx); err != nil && !ended && !errors.Is(err, job.ErrInstanceRemoved) && !h.dawdled.Load() && !h.troubledSince(time.Now().Add(-10*time.Second)) {
				h.group.violated("shutdown on %s, to which nothing happened: %v", h.name, err)
			}
		})
	}
	stopping.Wait()
}

// leave begins a graceful stop: handlers that run get that much time.
func (h *host) leave(drain time.Duration) {
	h.mu.Lock()
	h.drain = drain
	h.mu.Unlock()
	h.cancel(errLeave)
}

// kill ends a process at once. The store hears nothing more from it.
func (h *host) kill() {
	h.trouble.begin() // it never ends
	h.mu.Lock()
	reg := h.registry
	h.mu.Unlock()
	if reg != nil {
		reg.Link().Cut()
	}
	h.cancel(errKilled)
	if reg != nil {
		h.group.sim.working.Go(func() { _ = reg.Close(h.ctx) }) // it reaches nobody
	}
}

// link is the process's connection, or nil while it has none.
func (h *host) link() *memory.Link {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.registry == nil {
		return nil
	}
	return h.registry.Link()
}

func (h *host) String() string {
	if h.offset.Load() == 0 {
		return h.name
	}
	return fmt.Sprintf("%s (clock %+v)", h.name, time.Duration(h.offset.Load()))
}
