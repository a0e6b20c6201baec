package mixed

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/integration/jvmmember"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/job"
)

// process is one member of the job, with a session and an address of its own.
type process struct {
	c        *cluster
	kind     kind
	name, ip string
	registry coord.Registry
	link     link
	jvm      *jvmmember.Member
	golang   *job.Scheduler
	fails    atomic.Bool // its next execution fails

	mu     sync.Mutex
	random *rand.Rand // how long its requests take
	lags   *rand.Rand // how far its cache is behind
	gone   bool       // it has left or died
}

// start starts a process, and returns when it is a member. Names are unique in a cluster.
func (c *cluster) start(k kind, name string) *process {
	c.t.Helper()
	if c.setting.alone {
		k = jvm
	}
	c.mu.Lock()
	n := len(c.processes) + 1
	// Members sort by their addresses first, whatever their kind is.
	p := &process{c: c, kind: k, name: name, ip: fmt.Sprintf("10.0.%d.%d", 100+c.random.IntN(100), 100+n), random: rand.New(rand.NewPCG(c.seed, uint64(n))), lags: rand.New(rand.NewPCG(c.seed, 1000+uint64(n)))}
	if c.setting.hosts > 0 {
		p.ip = fmt.Sprintf("10.0.0.%d", 101+(n-1)%c.setting.hosts)
	}
	c.processes = append(c.processes, p)
	c.mu.Unlock()
	c.note("%s starts as %s", name, p.ip)
	var err error
	if p.registry, p.link, err = c.store.dial(name, c.setting.session, p.random); err == nil {
		err = p.join(n)
	}
	if err != nil {
		c.t.Fatalf("seed %d: %s does not start: %v\n%s", c.seed, name, err, c.story())
	}
	return p
}

// several starts processes, one after the other: "j" names JVM members, "g" Go instances.
func (c *cluster) several(names ...string) {
	c.t.Helper()
	for _, name := range names {
		k := golang
		if name[0] == 'j' {
			k = jvm
		}
		c.start(k, name)
		c.wait(700 * time.Millisecond)
	}
}

func (p *process) join(n int) (err error) {
	ctx := context.Background()
	if p.kind == golang {
		p.golang, err = job.Schedule(ctx, p.registry, p.c.setting.config(), job.HandlerFunc(p.execute), job.WithIP(p.ip), job.WithImplementation(class))
		if err == nil {
			p.c.hasID(p, p.golang.Status().InstanceID)
		}
		return err
	}
	config := jvmmember.Config{
		Registry: p.registry, Job: jobName, IP: p.ip, PID: 1000 + n, Class: class, Document: p.c.setting.document(),
		Release: p.c.setting.release, Work: p.work,
	}
	if p.c.store.isSimulated() {
		config.Step, config.Lag = p.step, p.lag
		config.Order = jvmmember.ShuffledOrder(p.c.seed<<8 | uint64(n))
	}
	p.c.hasID(p, fmt.Sprintf("%s@-@%d", config.IP, config.PID))
	p.jvm, err = jvmmember.Start(ctx, config)
	return err
}

// step is the time that a request takes.
func (p *process) step() {
	p.mu.Lock()
	d := latency(p.random)
	p.mu.Unlock()
	sleep.For(context.Background(), d)
}

// latency is 0.5 to 10 ms, more often short than long.
func latency(random *rand.Rand) time.Duration {
	return 500*time.Microsecond + time.Duration(random.Float64()*random.Float64()*float64(9500*time.Microsecond))
}

// lag is how far the cache of a JVM member is behind.
func (p *process) lag() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch s := p.c.setting; {
	case s.lag > 0:
		return s.lag
	case s.behind:
		return behind(p.lags)
	}
	return 0
}

// behind is 1 to 31 ms, more often short than long; and one change in a hundred takes up to 2 s.
func behind(random *rand.Rand) time.Duration {
	if random.IntN(100) == 0 {
		return time.Duration(random.Int64N(int64(2 * time.Second)))
	}
	return time.Millisecond + time.Duration(random.Float64()*random.Float64()*float64(30*time.Millisecond))
}

// execute is the work of an item of a Go instance.
func (p *process) execute(ctx context.Context, sc job.ShardingContext) error {
	p.c.hasID(p, sc.InstanceID) // each session has a new one
	e := execution{kind: golang, member: p.name, item: sc.Item, tick: sc.ScheduledTime, source: asked}
	switch sc.Source {
	case job.SourceNormal:
		e.source = normal
	case job.SourceMisfire:
		e.source = makeUp
	case job.SourceFailover:
		e.source = failover
	}
	return p.run(ctx, e)
}

// work is the same of a JVM member.
func (p *process) work(ctx context.Context, x jvmmember.Execution) error {
	e := execution{kind: jvm, member: p.name, item: x.Item, tick: x.Tick, source: asked}
	switch x.Source {
	case jvmmember.Normal:
		e.source = normal
	case jvmmember.Misfire:
		e.source = makeUp
	case jvmmember.Failover:
		e.source = failover
	}
	return p.run(ctx, e)
}

func (p *process) run(ctx context.Context, e execution) error {
	noted := p.c.ledger.begin(e)
	if !sleep.For(ctx, p.worksFor()) {
		p.c.ledger.end(noted, cut)
		return context.Cause(ctx)
	}
	p.c.ledger.end(noted, done)
	if p.fails.CompareAndSwap(true, false) {
		p.c.note("item %d fails on %s", e.item, p.name)
		return errFailed
	}
	return nil
}

var errFailed = errors.New("it has failed, as the test wants it")

// worksFor is how long an execution takes.
func (p *process) worksFor() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.c.setting
	if p.kind == golang && s.ofGo > 0 {
		return s.ofGo
	}
	return s.work + time.Duration(p.random.Int64N(int64(s.longest-s.work)+1))
}

func (p *process) isGone() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.gone
}

// goes reports whether it was there, and marks it as gone.
func (p *process) goes() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	was := p.gone
	p.gone = true
	return !was
}

// leave stops the process in order, and returns when it is gone. What runs has a minute.
func (p *process) leave() {
	if !p.goes() {
		return
	}
	p.c.note("%s leaves", p.name)
	if err := p.shutdown(); err != nil {
		p.c.t.Errorf("seed %d: %s leaves: %v", p.c.seed, p.name, err)
	}
	p.c.note("%s has left", p.name)
}

// end stops it at the end of a test.
func (p *process) end() {
	if !p.goes() {
		return
	}
	if err := p.shutdown(); err != nil {
		p.c.t.Errorf("seed %d: the end of %s: %v", p.c.seed, p.name, err)
	}
}

func (p *process) shutdown() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if p.kind == golang {
		return errors.Join(p.golang.Shutdown(ctx), p.registry.Close(ctx))
	}
	if err := p.jvm.Exit(ctx); err != nil {
		p.c.note("%s does not come to its end, and is killed: %v", p.name, err) // as the real one
		p.die()
		return nil
	}
	p.jvm.Crash() // after the hooks the machine ends, whatever it is doing
	<-p.jvm.Done()
	return p.registry.Close(ctx)
}

// kill ends the process as kill -9 does: the store hears nothing more from it, and its session
// expires later. kill returns at once.
func (p *process) kill() {
	if p.goes() {
		p.die()
	}
}

func (p *process) die() {
	var recorded []int
	for i, item := range p.c.state().Items {
		if item.Running != nil && p.c.processOf(item.Running.ID) == p {
			recorded = append(recorded, i)
		}
	}
	p.c.ledger.kill(p.name, recorded)
	p.c.note("%s is killed; items %v are recorded as running", p.name, recorded)
	p.link.Cut()
	over, cancel := context.WithCancel(context.Background())
	cancel()
	if p.kind == jvm {
		p.jvm.Crash()
	}
	_ = p.registry.Close(over) // it reaches nobody
	p.c.ending.Go(func() {
		if p.kind == golang {
			_ = p.golang.Shutdown(over) // nor does this; it waits for the handlers
			return
		}
		<-p.jvm.Done()
	})
}
