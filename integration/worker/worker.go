package worker

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/integration/fence"
	"github.com/elasticjob-go/elasticjob/integration/history"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/script"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// Main is the whole of the process, and returns its exit code.
func Main(s script.Supervisor) int {
	if err := run(os.Stdin, os.Stdout, os.Stderr, s); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func run(in io.Reader, out, messages io.Writer, s script.Supervisor) error {
	lines := bufio.NewScanner(in)
	if !lines.Scan() {
		return fmt.Errorf("worker: no configuration: %w", lines.Err())
	}
	var c Config
	if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
		return fmt.Errorf("worker: configuration: %w", err)
	}
	log, err := history.Create(c.Log, c.Name, out)
	if err != nil {
		return err
	}
	up := history.Now(history.Up)
	up.Address = c.Address
	log.Add(up)

	w := &worker{
		config: c, log: log, supervisor: s,
		zap: zap.New(zapcore.NewCore(
			zapcore.NewConsoleEncoder(zap.NewDevelopmentEncoderConfig()), zapcore.AddSync(messages), zap.InfoLevel)),
		jobs: map[string]*member{},
	}
	w.setClock(c.ClockOffset)
	commands := make(chan Command)
	go read(lines, commands)
	before := goleak.IgnoreCurrent()
	beating, stop := context.WithCancel(context.Background())
	w.running.Go(func() { log.Pulse(beating) })
	err = w.serve(commands)
	stop()
	w.running.Wait()
	if err != nil {
		return err
	}
	down := history.Now(history.Down)
	// A scheduler that could not remove its nodes tries that in the background, by a view, until the registry is closed.
	// Its views are counted once its goroutines have ended.
	leak := goleak.Find(before)
	if n := w.views.Load(); n != 0 {
		leak = errors.Join(leak, fmt.Errorf("%d views are open after the registry has been closed", n))
	}
	if leak != nil {
		down.Err = leak.Error()
	}
	log.Add(down)
	return log.Close()
}

// read passes commands on. When the input ends, the process ends.
func read(lines *bufio.Scanner, commands chan<- Command) {
	for lines.Scan() {
		var c Command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			fmt.Fprintln(os.Stderr, "worker: command:", err)
			os.Exit(1)
		}
		commands <- c
	}
	os.Exit(1)
}

type worker struct {
	config Config
	log    *history.Log
	zap    *zap.Logger
	fence  *fence.Client
	// of scripts
	supervisor script.Supervisor
	reg        coord.Registry
	node       *job.Node    // that runs all jobs; there is one once reg is
	runner     *job.Runner  // whose node it is; nil if jobs are joined by command
	views      atomic.Int64 // that are open
	offset     atomic.Int64 // of the clock
	gate       gate         // of all handlers

	jobs    map[string]*member
	running sync.WaitGroup
}

// member is a worker's part in one job.
type member struct {
	Job
	joined    chan struct{}  // closed when it has
	scheduler *job.Scheduler // once it has joined
	mu        sync.Mutex
	// leave ends the wait for a registry that is away, drain the time that handlers get
	// after that.
	leave context.CancelFunc
	ctx   context.Context
	drain time.Duration
	ended chan struct{}
}

// serve obeys commands until one says exit.
func (w *worker) serve(commands <-chan Command) (err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if w.fence, err = fence.Dial(ctx, w.config.Fence); err != nil {
		return err
	}
	defer w.fence.Close()
	dialled := make(chan struct{})
	w.running.Go(func() {
		defer close(dialled)
		if w.reg = w.dial(ctx); w.reg == nil {
			return
		}
		var err error
		if w.config.Runner {
			err = w.newRunner()
		} else {
			w.node, err = job.NewNode(w.reg, job.NodeConfig{})
		}
		if err != nil {
			w.zap.Error("node", zap.Error(err))
		}
	})
	served := make(chan struct{})
	w.running.Go(func() {
		defer close(served)
		w.serveJobs(dialled)
	})
	for c := range commands {
		switch {
		case c.Join != nil:
			w.join(ctx, *c.Join, dialled)
		case c.Clock != nil:
			w.setClock(*c.Clock)
		case c.Hang != nil:
			w.gate.set(*c.Hang)
		case c.Trigger != "":
			w.trigger(ctx, c.Trigger)
		case c.Leave != "":
			w.leave(c.Leave, c.Drain)
		case c.Exit:
			w.gate.set(false)
			for name := range w.jobs {
				w.leave(name, c.Drain)
			}
			for _, m := range w.jobs {
				<-m.ended
			}
			cancel()
			<-dialled
			w.dismiss(c.Drain)
			<-served
			return w.close()
		}
	}
	return nil
}

func (w *worker) close() error {
	if w.reg == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := w.reg.Close(ctx); err != nil {
		w.zap.Warn("close", zap.Error(err)) // the store may be away
	}
	return nil
}

// retryEvery is the time between two attempts to start while the store is away.
const retryEvery = 200 * time.Millisecond

// dial opens the registry, however long that takes.
func (w *worker) dial(ctx context.Context) coord.Registry {
	for {
		reg, err := Dial(ctx, w.config, w.zap)
		if err == nil {
			return recorder{reg, w.log, &w.views}
		}
		w.zap.Warn("dial", zap.Error(err))
		if !sleep.For(ctx, retryEvery) {
			return nil
		}
	}
}

// join starts a scheduler of a job, and sees to it until it has stopped.
func (w *worker) join(ctx context.Context, j Job, dialled <-chan struct{}) {
	before := w.jobs[j.Config.Name]
	m := &member{Job: j, joined: make(chan struct{}), ended: make(chan struct{})}
	m.ctx, m.leave = context.WithCancel(ctx)
	w.jobs[j.Config.Name] = m
	w.running.Go(func() {
		defer close(m.ended)
		defer m.leave()
		if before != nil {
			before.replace(m)
		}
		select {
		case <-dialled:
		case <-m.ctx.Done():
			return
		}
		if s := w.schedule(m); s != nil {
			w.attend(m, s)
		}
	})
}

// schedule starts the scheduler, however long that takes.
func (w *worker) schedule(m *member) *job.Scheduler {
	h, err := w.work(m.Job)
	if err != nil {
		w.zap.Error("join", zap.Error(err))
		return nil
	}
	opts := w.options()
	if m.Tell > 0 {
		opts = append(opts, job.WithOnceListener(Teller, teller{w.log, m.Tell}, job.OnceTimes{}))
	}
	for wasRefused := false; ; {
		s, err := w.node.Schedule(m.ctx, m.Config, h, opts...)
		if err == nil {
			m.scheduler = s
			close(m.joined)
			e := history.Now(history.Joined)
			e.Job, e.Instance = m.Config.Name, s.Status().InstanceID
			w.log.Add(e)
			return s
		}
		if errors.Is(err, job.ErrJobRemoved) && !wasRefused {
			wasRefused = true
			e := history.Now(history.Refused)
			e.Job, e.Err = m.Config.Name, err.Error()
			w.log.Add(e)
		}
		w.zap.Warn("join", zap.String("job", m.Config.Name), zap.Error(err))
		if !sleep.For(m.ctx, retryEvery) {
			return nil
		}
	}
}

// options are those of all jobs.
func (w *worker) options() []job.Option {
	opts := []job.Option{job.WithIP(w.config.Address), job.WithLogger(w.zap), setup.Clock(w.now)}
	if w.config.Early > 0 {
		opts = append(opts, job.WithEarlyClaims(w.config.Early))
	}
	if name := w.config.Knows; name != "" {
		known, err := strategy.Lookup("", nil)
		if err != nil {
			w.zap.Error("strategy", zap.Error(err))
		}
		ignore := job.ErrorHandlerFunc(func(context.Context, job.ShardingContext, error) {})
		opts = append(opts, job.WithStrategy(name, known), job.WithErrorHandler(name, ignore))
	}
	return opts
}

// now is what the worker's clock shows.
func (w *worker) now() time.Time { return time.Now().Add(time.Duration(w.offset.Load())) }

// attend waits until the scheduler has stopped by itself, or shuts it down when the member is
// to leave.
func (w *worker) attend(m *member, s *job.Scheduler) {
	watching, stop := context.WithCancel(context.Background())
	defer stop()
	var watch sync.WaitGroup
	watch.Go(func() { w.watch(watching, m.Config.Name, s) })
	var err error
	select {
	case <-s.Done():
		err = s.Err()
		if err == nil {
			err = errors.New("stopped without a reason")
		}
	case <-m.ctx.Done():
		m.mu.Lock()
		drain := m.drain
		m.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), drain)
		defer cancel()
		err = s.Shutdown(ctx)
	}
	stop()
	watch.Wait() // no fault is written down after it has left
	e := history.Now(history.Left)
	e.Job = m.Config.Name
	if err != nil {
		e.Err = err.Error()
	}
	w.log.Add(e)
}

// replace waits until a member has stopped. If the next one has to stop before that, it makes
// this one stop.
func (m *member) replace(next *member) {
	select {
	case <-m.ended:
		return
	case <-next.ctx.Done():
	}
	next.mu.Lock()
	drain := next.drain
	next.mu.Unlock()
	m.stop(drain)
	<-m.ended
}

// stop makes a member leave.
func (m *member) stop(drain time.Duration) {
	m.mu.Lock()
	m.drain = drain
	m.mu.Unlock()
	m.leave()
}

func (w *worker) leave(name string, drain time.Duration) {
	m := w.jobs[name]
	if m == nil {
		w.zap.Error("asked to leave a job that it has not joined", zap.String("job", name))
		return
	}
	m.stop(drain)
}

// trigger asks all items of a job to run now, or as soon as it has joined. It asks again until the store has the
// request: the instances of a busy machine may all be away for a moment.
func (w *worker) trigger(ctx context.Context, name string) {
	m := w.jobs[name]
	if m == nil {
		w.zap.Error("asked to trigger a job that it has not joined", zap.String("job", name))
		return
	}
	w.running.Go(func() {
		select {
		case <-m.joined:
		case <-m.ctx.Done():
			return
		}
		r := job.TriggerRequest{Key: rand.Text()} // so that it is one request, however often it is made
		for pause := 100 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
			_, err := m.scheduler.Trigger(ctx, r)
			if err == nil {
				return
			}
			w.zap.Error("trigger", zap.Error(err))
			select {
			case <-time.After(pause):
			case <-m.ctx.Done():
				return
			}
		}
	})
}
