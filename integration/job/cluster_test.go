package job_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// link is the connection of one registry. A test can break it.
type link interface {
	Cut()
	BlackHole()
	Heal()
}

// store is a store on which the scheduler is tested.
type store interface {
	dial(t testing.TB, namespace string, timeout time.Duration) (coord.Registry, link)
}

// patience bounds every wait of a test. It is long: when it is over the test has failed. On real
// stores it is longer: see cluster.patience.
const patience = 60 * time.Second

// onEveryStore runs a test on the simulator, in virtual time, on etcd and on ZooKeeper. With the race
// detector, or -short, it runs on the simulator alone: there the same goroutines of this package meet, and a slow
// machine would lose the sessions of real stores. Adapters have the race detector in tests of their own.
func onEveryStore(t *testing.T, behaviour func(*testing.T, store)) {
	t.Helper()
	t.Parallel()
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) { behaviour(t, newMemoryStore(t)) })
	})
	if raced || testing.Short() {
		return
	}
	t.Run("etcd", func(t *testing.T) {
		t.Parallel()
		behaviour(t, etcdStore(t))
	})
	t.Run("zookeeper", func(t *testing.T) {
		t.Parallel()
		behaviour(t, zookeeperStore(t))
	})
}

// onTheSimulator is onEveryStore for tests that need the simulator only.
func onTheSimulator(t *testing.T, behaviour func(*testing.T, store)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { behaviour(t, newMemoryStore(t)) })
}

type memoryStore struct{ *memory.Store }

func newMemoryStore(t testing.TB) store {
	s := memory.NewStore(memory.Options{})
	t.Cleanup(s.Close)
	return memoryStore{s}
}

func (s memoryStore) dial(t testing.TB, namespace string, timeout time.Duration) (coord.Registry, link) {
	reg, err := s.Dial(t.Context(), memory.Config{Namespace: namespace, SessionTimeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	return reg, reg.Link()
}

// cluster is one job and its instances.
type cluster struct {
	*testing.T
	store     store
	namespace string
	timeout   time.Duration // of the sessions
	admin     coord.Registry
	view      coord.View
	job       jobtree.Job
	record    *record
	members   []*member
}

// lasting is the time-out of sessions that no test wants to end: longer than a host takes all
// CPUs away, which are a dozen seconds at times.
const lasting = 40 * time.Second

// newCluster returns a cluster without members. Its session time-out is so long that no
// session ends on a busy machine. A test that waits for the end of one sets a shorter one.
func newCluster(t *testing.T, s store, name string) *cluster {
	t.Helper()
	c := &cluster{
		T: t, store: s, timeout: 10 * time.Second, job: jobtree.Job(name), record: newRecord(),
		namespace: strings.NewReplacer("/", "-", "#", "-").Replace(t.Name()) + "-" + rand.Text(), // with -count a test runs again on the same server
	}
	if c.isReal() {
		c.timeout = lasting
	}
	c.admin, _ = s.dial(t, c.namespace, c.timeout)
	t.Cleanup(func() { closeRegistry(t, c.admin) })
	view, err := c.admin.View(t.Context(), name, coord.AllLevels)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(view.Close)
	c.view = view
	return c
}

// isReal reports whether the store is a real one. There the machine's time passes, also while the
// machine stands still, so that what takes how long is looked at on the simulator.
func (c *cluster) isReal() bool {
	_, isSimulated := c.store.(memoryStore)
	return !isSimulated
}

// patience bounds what the test waits for.
func (c *cluster) patience() time.Duration {
	if c.isReal() {
		return 3 * patience
	}
	return patience
}

func closeRegistry(t testing.TB, reg coord.Registry) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := reg.Close(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, coord.ErrUnavailable) {
		t.Errorf("close: %v", err)
	}
}

// member is one process of the job.
type member struct {
	*job.Scheduler
	c    *cluster
	ip   string
	reg  coord.Registry
	link link
	dead atomic.Bool // it has crashed, maybe while a commit was under way
}

// config returns the configuration that most tests use.
func (c *cluster) config() job.Config {
	return job.Config{Name: string(c.job), Cron: "* * * * * ?", ShardingTotalCount: 3, Failover: true, Threads: 16}
}

// join starts an instance and stops it at the end of the test.
func (c *cluster) join(ip string, cfg job.Config, h job.HandlerFunc, opts ...job.Option) *member {
	c.Helper()
	m := c.dial(ip)
	if err := m.schedule(c.Context(), cfg, h, opts...); err != nil {
		c.Fatalf("join %s: %v", ip, err)
	}
	return m
}

// dial returns a process that has not joined yet.
func (c *cluster) dial(ip string) *member {
	c.Helper()
	m := &member{c: c, ip: ip}
	m.reg, m.link = c.store.dial(c.T, c.namespace, c.timeout)
	c.members = append(c.members, m)
	c.Cleanup(m.end)
	return m
}

func (m *member) schedule(ctx context.Context, cfg job.Config, h job.HandlerFunc, opts ...job.Option) error {
	opts = append([]job.Option{job.WithIP(m.ip), job.WithLogger(zaptest.NewLogger(m.c, zaptest.Level(zap.InfoLevel)))}, opts...)
	s, err := job.Schedule(ctx, m.reg, cfg, m.c.record.handler(h), opts...)
	if err == nil {
		m.Scheduler = s
	}
	return err
}

// end stops what a test has left running.
func (m *member) end() {
	if m.dead.Load() {
		m.link.Heal()
	}
	if m.Scheduler != nil {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = m.Shutdown(ctx) // the test is over, so its error does not matter
	}
	closeRegistry(m.c, m.reg)
}

// leave stops an instance gracefully.
func (m *member) leave() {
	m.c.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), m.c.patience())
	defer cancel()
	if err := m.Shutdown(ctx); err != nil {
		m.c.Errorf("shutdown of %s: %v", m.ip, err)
	}
}

// stop stops an instance and gives its handlers no time.
func (m *member) stop() error { return m.stopWithin(0) }

// stopWithin stops an instance and gives its handlers some time.
func (m *member) stopWithin(d time.Duration) error {
	ctx, cancel := context.WithTimeout(m.c.Context(), d)
	defer cancel()
	return m.Shutdown(ctx)
}

// awaitDone waits until a scheduler has stopped by itself.
func (m *member) awaitDone() {
	m.c.Helper()
	timeout := time.NewTimer(m.c.patience())
	defer timeout.Stop()
	select {
	case <-m.Done():
	case <-timeout.C:
		m.c.Fatalf("%s has not stopped in %v; the status is %+v\n%s%s", m.ip, m.c.patience(), m.Status(), m.c.dump(), m.c.record)
	}
}

// crash ends an instance as a crash does: it is cut off from the store for good, and what it
// does from now on is not recorded.
func (m *member) crash() {
	m.dead.Store(true)
	m.link.BlackHole()
}

// state returns the job's tree as it is now.
func (c *cluster) state() *jobtree.State { return jobtree.Read(c.view.Snapshot(), c.job) }

// await waits until the tree is as the test wants it.
func (c *cluster) await(what string, ok func(*jobtree.State) bool, also ...signal) {
	c.Helper()
	c.until(what, func() bool { return ok(c.state()) }, also...)
}

// until waits for something that comes with a change of the tree or of the record of executions.
func (c *cluster) until(what string, ok func() bool, also ...signal) {
	c.Helper()
	timeout := time.NewTimer(c.patience())
	defer timeout.Stop()
	for {
		changed, recorded := c.view.Changed(), c.record.Changed()
		// The view may be late, and that may be why something is missing.
		c.sync()
		if ok() {
			return
		}
		var other signal
		if len(also) > 0 {
			other = also[0]
		}
		select {
		case <-changed:
		case <-recorded:
		case <-other:
		case <-timeout.C:
			c.Fatalf("not seen in %v: %s\n%s%s", c.patience(), what, c.dump(), c.record)
		}
	}
}

// sync waits until the view shows what is in the store.
func (c *cluster) sync() {
	c.Helper()
	c.must(c.view.Sync(c.Context()))
}

func (c *cluster) dump() string {
	var b strings.Builder
	for n := range c.view.Snapshot().All("") {
		if n.Path != c.job.Config() {
			fmt.Fprintf(&b, "%s = %q (owner %x)\n", n.Path, n.Value, int64(n.Owner))
		}
	}
	return b.String()
}

// owners returns the items of each host, and under "" those without a live owner.
func owners(s *jobtree.State, total int) map[string][]int {
	list := map[string][]int{}
	for i := range total {
		ip := ""
		if owner := s.Item(i).Owner; owner != nil {
			if in, ok := s.Instances[owner.ID]; ok {
				ip = in.IP
			}
		}
		list[ip] = append(list[ip], i)
	}
	return list
}

// awaitOwners waits until the items are assigned as wanted.
func (c *cluster) awaitOwners(want map[string][]int) {
	c.Helper()
	total := 0
	for _, items := range want {
		total += len(items)
	}
	c.await(fmt.Sprintf("items assigned as %v", want), func(s *jobtree.State) bool {
		got := owners(s, total)
		if len(got) != len(want) || len(s.Items) != total {
			return false
		}
		for ip, items := range want {
			if !slices.Equal(got[ip], items) {
				return false
			}
		}
		return true
	})
}

// awaitRuns waits for so many executions that match.
func (c *cluster) awaitRuns(what string, n int, match func(execution) bool) []execution {
	c.Helper()
	var found []execution
	c.until(fmt.Sprintf("%d × %s", n, what), func() bool {
		found = c.record.find(match)
		return len(found) >= n
	})
	return found
}

// commit commits as an operator does.
func (c *cluster) commit(ops ...coord.Op) {
	c.Helper()
	if _, err := c.admin.Commit(c.Context(), ops...); err != nil {
		c.Fatal(err)
	}
}

// trigger asks for items, or all of them.
func (c *cluster) trigger(m *member, items ...int) *job.Requested {
	c.Helper()
	result, err := m.Trigger(c.Context(), job.TriggerRequest{Items: items})
	c.must(err)
	return result
}

// configure changes the configuration as an operator does.
func (c *cluster) configure(change func(*job.Config)) {
	c.Helper()
	node, err := c.admin.Get(c.Context(), c.job.Config())
	c.must(err)
	cfg, err := jobtype.DecodeConfig(node.Value)
	c.must(err)
	change(&cfg)
	document, err := cfg.Encode(node.Value)
	c.must(err)
	c.commit(coord.SetAt(c.job.Config(), document, node.Version))
}

// must ends the test at an error.
func (c *cluster) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// ok fails the test at an error, and goes on.
func (c *cluster) ok(err error) {
	c.Helper()
	if err != nil {
		c.Error(err)
	}
}

// signal tells a test to look again; sending it never blocks.
type signal chan struct{}

func newSignal() signal { return make(signal, 1) }

func (s signal) send() {
	select {
	case s <- struct{}{}:
	default:
	}
}

// execution is one call of a handler.
type execution struct {
	job.ShardingContext
	ip         string
	begin, end time.Time // end is zero until it returns
	err        error
	cause      error // why the context had ended when it returned
}

// record has all executions, in the order in which they began.
type record struct {
	mu      sync.Mutex
	list    []*execution
	changed chan struct{}
}

func newRecord() *record { return &record{changed: make(chan struct{})} }

func (r *record) handler(h job.HandlerFunc) job.HandlerFunc {
	return func(ctx context.Context, sc job.ShardingContext) (err error) {
		e := &execution{ShardingContext: sc, ip: jobtree.InstanceIP(sc.InstanceID), begin: time.Now()}
		r.update(func() { r.list = append(r.list, e) })
		defer func() { r.update(func() { e.end, e.err, e.cause = time.Now(), err, context.Cause(ctx) }) }()
		if h == nil {
			return nil
		}
		return h(ctx, sc)
	}
}

func (r *record) update(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *record) Changed() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed
}

func (r *record) find(match func(execution) bool) []execution {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []execution
	for _, e := range r.list {
		if match(*e) {
			found = append(found, *e)
		}
	}
	return found
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	for _, e := range r.list {
		fmt.Fprintf(&b, "%s–%s item %d tick %s %s token %d on %s: %v, %v\n", e.begin.Format("05.000"), e.end.Format("05.000"),
			e.Item, e.ScheduledTime.Format("05.000"), e.Source, e.Token, e.ip, e.err, e.cause)
	}
	return b.String()
}

// check fails if a record has what must never happen: a tick of an item that started twice,
// a token that is not larger than the one before, or two executions of an item at the same
// time. An execution whose context has ended does not count as running.
func (c *cluster) check() {
	c.Helper()
	type tick struct {
		item int
		at   int64
	}
	started := map[tick]execution{}
	last := map[int]execution{}
	byToken := c.record.find(anything)
	slices.SortFunc(byToken, func(a, b execution) int { return int(min(max(a.Token-b.Token, -1), 1)) })
	for _, e := range byToken {
		if e.Source == job.SourceNormal || e.Source == job.SourceMisfire {
			k := tick{e.Item, e.ScheduledTime.UnixMilli()}
			if before, twice := started[k]; twice {
				c.Errorf("item %d, tick %s: begun with token %d and again with token %d\n%s", e.Item, e.ScheduledTime, before.Token, e.Token, c.record)
			}
			started[k] = e
		}
		if before, ok := last[e.Item]; ok {
			if before.Token >= e.Token {
				c.Errorf("item %d: token %d after %d\n%s", e.Item, e.Token, before.Token, c.record)
			}
			if (before.end.IsZero() || before.end.After(e.begin)) && before.cause == nil {
				c.Errorf("item %d: execution %d began while %d ran\n%s", e.Item, e.Token, before.Token, c.record)
			}
		}
		last[e.Item] = e
	}
}

// untilDone is a handler that works until its context ends.
func untilDone(ctx context.Context, _ job.ShardingContext) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// elapse waits for a while, or until the context ends.
func elapse(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// forAWhile is a handler that works for some time.
func forAWhile(d time.Duration) job.HandlerFunc {
	return func(ctx context.Context, _ job.ShardingContext) error { return elapse(ctx, d) }
}
