package job

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// The model plays a cluster against itself: a store that keeps the contract of coord,
// processes with the real controller's state and the real steps, and an adversary
// (rapid) who decides who acts, on how old a snapshot, what happens between a decision
// and its commit, which answers get lost and which commits land late, who dies, and what
// operators do. What is promised is checked from outside: from the handlers that run, and
// from the tree.
//
// Time is the model's. Handlers run until the adversary lets them return.
type model struct {
	t       *rapid.T
	how     modelOptions
	job     jobtree.Job
	store   *stepStore
	history []coord.Snapshot // by revision, from the first on
	first   int64
	now     time.Time
	ctx     context.Context
	config  Config
	members []*member
	seats   int // of members that were ever started
	session coord.SessionID
	doomed  []*modelSession // lost by their process, not yet by the store
	late    []lateCommit
	depth   int // of what happens between a decision and its commit
	calm    bool
	before  coord.Snapshot // a commit
	tries   int            // commits that were tried
	journal []string

	// What was seen from outside.
	begun   map[string]string // item and tick: who began it by its schedule
	token   map[int]int64     // of the last execution of an item
	cut     map[int]string    // items that have a run that was cut short, by what
	owed    map[int]time.Time // items that must be run again, for which tick
	counted map[string]bool   // the records in cut
	excused map[int]bool      // items that nobody may run: disabled, or nobody is available or has become leader
	excuse  map[int]time.Time // until when they were that
}

type modelOptions struct {
	// torn lets views show commits in parts.
	torn bool
	// config lets an operator change the configuration.
	config bool
	// oneOff is a job without a schedule.
	oneOff bool
	// switches are the values that failover and misfire may have.
	switches []bool
	// skew is how far clocks may be off, either way.
	skew time.Duration
}

// member is a process.
type member struct {
	m       *model
	c       *controller
	name    string
	id      string // of the instance that it is now
	ids     int    // how many it has been
	reg     *modelRegistry
	view    *modelView
	busy    bool // inside of a pass
	crashed bool
	gone    bool
	handler map[*run]context.Context // of those that have not returned
	stop    context.CancelFunc       // ends the time to drain
}

type modelSession struct {
	coord.Session
	id     coord.SessionID
	ctx    context.Context
	cancel context.CancelCauseFunc
}

func (s *modelSession) State() (coord.SessionState, <-chan struct{}) {
	if s.ctx.Err() != nil {
		return coord.Lost, nil
	}
	return coord.Connected, nil
}
func (s *modelSession) ID() coord.SessionID      { return s.id }
func (s *modelSession) Context() context.Context { return s.ctx }

// modelRegistry is a member's connection.
type modelRegistry struct {
	coord.Registry
	p       *member
	session *modelSession
}

// modelView is a member's view: what it shows is old until something makes it new.
type modelView struct {
	coord.View
	p     *member
	at    int64            // everything up to this revision is shown
	ahead map[string]int64 // paths of which something newer is shown
}

// lateCommit is a request whose answer was given up, and which may yet happen.
type lateCommit struct {
	by      string
	session coord.SessionID
	ops     []coord.Op
}

func newModel(t *rapid.T, how modelOptions) *model {
	m := &model{
		t: t, how: how, job: "settle", store: newStepStore(),
		now:   tick(0).Add(time.Millisecond),
		ctx:   context.Background(),
		begun: map[string]string{}, token: map[int]int64{}, cut: map[int]string{},
		owed: map[int]time.Time{}, counted: map[string]bool{},
		excused: map[int]bool{}, excuse: map[int]time.Time{},
	}
	m.first = m.store.revision
	m.history = []coord.Snapshot{m.store.tree.Snapshot()}
	m.store.written = m.onWrite
	m.config = Config{
		Name: "settle", Cron: "0 * * * * ?", TimeZone: "UTC", ReconcileInterval: -time.Minute,
		ShardingTotalCount: rapid.IntRange(1, 3).Draw(t, "total"),
		Failover:           rapid.SampledFrom(how.switches).Draw(t, "failover"),
		Misfire:            ToggleOf(rapid.SampledFrom(how.switches).Draw(t, "misfire")),
		Strategy:           rapid.SampledFrom([]string{"AVG_ALLOCATION", "STICKY"}).Draw(t, "strategy"),
	}
	if how.oneOff {
		m.config.Cron = ""
	}
	m.configure()
	return m
}

func (m *model) logf(format string, args ...any) {
	m.journal = append(m.journal, m.now.Format("04:05.000 ")+fmt.Sprintf(format, args...))
}

func (m *model) fatalf(format string, args ...any) {
	m.t.Helper()
	m.t.Fatalf("BROKEN: %s\n\nhistory:\n%s\n\ntree:\n%s", fmt.Sprintf(format, args...), strings.Join(m.journal, "\n"), m.dump())
}

func (m *model) dump() string {
	var b strings.Builder
	for n := range m.store.tree.Snapshot().All("") {
		if !strings.HasSuffix(n.Path, "/config") {
			fmt.Fprintf(&b, "%s = %s (version %d, modified %d, owner %d)\n", n.Path, n.Value, n.Version, n.Modified, n.Owner)
		}
	}
	return b.String()
}

func (m *model) state() *jobtree.State { return jobtree.Read(m.store.tree.Snapshot(), m.job) }

// happened records the store's state after a commit.
func (m *model) happened() {
	for int64(len(m.history)) <= m.store.revision-m.first {
		m.history = append(m.history, m.store.tree.Snapshot())
	}
	m.lookForCutRuns()
	s := m.state()
	nobody := len(m.available(s)) == 0 || s.Leader == nil
	for i := range m.config.ShardingTotalCount {
		if m.excused[i] {
			m.excuse[i] = m.now
		}
		m.excused[i] = nobody || s.Item(i).Disabled
	}
}

// operate commits in an operator's name.
func (m *model) operate(ops ...coord.Op) bool {
	_, err := m.store.commit(0, ops...)
	if err != nil {
		m.logf("operator: %v", err)
		return false
	}
	m.happened()
	return true
}

func (m *model) configure() {
	document, err := m.config.Encode(nil)
	if err != nil {
		m.t.Fatal(err)
	}
	m.logf("operator: total %d, failover %v, misfire %v, cron %s", m.config.ShardingTotalCount, m.config.Failover, m.config.Misfire, m.config.Cron)
	m.operate(coord.Put(m.job.Config(), document))
	for i := range m.owed {
		if !m.config.Failover || i >= m.config.ShardingTotalCount {
			delete(m.owed, i)
		}
	}
}

// start brings up a new process.
func (m *model) start() *member {
	m.seats++
	p := &member{m: m, name: string(rune('a' + (m.seats-1)%26)), handler: map[*run]context.Context{}}
	p.view = &modelView{p: p, at: m.store.revision, ahead: map[string]int64{}}
	p.reg = &modelRegistry{p: p}
	skew := rapid.SampledFrom([]time.Duration{0, m.how.skew, -m.how.skew}).Draw(m.t, "skew")
	o, err := newOptions([]Option{WithClock(func() time.Time { return m.now.Add(skew) }), WithIP(fmt.Sprintf("host-%d", m.seats%3))})
	if err != nil {
		m.t.Fatal(err)
	}
	s, err := newSettings(m.config, o, 0)
	if err != nil {
		m.t.Fatal(err)
	}
	stopping, stop := context.WithCancel(m.ctx)
	p.c = &controller{
		reg: p.reg, view: p.view, job: m.job, options: o, log: zap.NewNop(), settings: s,
		self: self{ip: o.ip}, runs: map[int]*run{}, ended: map[int]int64{}, triggers: map[int]manual{},
		missed: map[int]bool{}, waiting: map[int]time.Time{}, begun: map[int]time.Time{}, troubles: troubles{}, heals: heals{},
		inTurn: true, stopping: stopping, wake: make(chan struct{}, 1), started: func() {},
	}
	p.c.executes = p.begin
	p.stop = stop
	p.reg.open()
	m.members = append(m.members, p)
	return p
}

// open begins a session of the process.
func (r *modelRegistry) open() {
	r.p.m.session++
	ctx, cancel := context.WithCancelCause(r.p.m.ctx)
	r.session = &modelSession{id: r.p.m.session, ctx: ctx, cancel: cancel}
}

func (r *modelRegistry) Session(context.Context) (coord.Session, error) {
	if r.session == nil || r.session.ctx.Err() != nil {
		r.open()
	}
	return r.session, nil
}

func (r *modelRegistry) Clock() coord.Clock { return coord.Clock{} }

func (r *modelRegistry) Get(ctx context.Context, path string) (coord.Node, error) {
	if r.p.crashed || ctx.Err() != nil {
		return coord.Node{}, coord.ErrUnavailable
	}
	r.p.m.meanwhile(r.p)
	n, ok := r.p.m.store.tree.Snapshot().Get(path)
	if !ok {
		return coord.Node{}, coord.ErrNoNode
	}
	return n, nil
}

func (r *modelRegistry) Commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	m, session := r.p.m, r.session
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	m.tries++
	m.meanwhile(r.p)
	if r.p.crashed {
		return 0, coord.ErrUnavailable
	}
	var lost, happens bool
	if !m.calm {
		switch rapid.IntRange(0, 11).Draw(m.t, "answer") {
		case 9:
			lost, happens = true, true
		case 10:
			lost = true
		case 11:
			m.logf("%s: the answer is lost, and it may come later: %s", r.p.name, describe(ops))
			m.late = append(m.late, lateCommit{by: r.p.name, session: session.id, ops: ops})
			return 0, coord.ErrUnknownOutcome
		default:
			happens = true
		}
	} else {
		happens = true
	}
	if !happens {
		m.logf("%s: the request is lost: %s", r.p.name, describe(ops))
		return 0, coord.ErrUnknownOutcome
	}
	m.before = m.store.tree.Snapshot()
	revision, err := m.store.commit(session.id, ops...)
	switch {
	case err == nil:
		m.logf("%s: %d %s", r.p.name, m.store.revision, describe(ops))
		m.applied(r.p.name, ops)
	case errors.Is(err, coord.ErrConflict):
		m.logf("%s: %v, of %s", r.p.name, err, describe(ops))
	case errors.Is(err, coord.ErrSessionLost):
	default:
		m.fatalf("%s: %v", r.p.name, err)
	}
	if lost || ctx.Err() != nil {
		m.logf("%s: the answer is lost", r.p.name)
		return 0, coord.ErrUnknownOutcome
	}
	return revision, err
}

func describe(ops []coord.Op) string {
	var b strings.Builder
	for i, op := range ops {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%v", op)
		if len(op.Value) > 0 && len(op.Value) < 60 {
			fmt.Fprintf(&b, " (%s)", op.Value)
		}
	}
	return strings.ReplaceAll(b.String(), "settle/", "")
}

// meanwhile lets other things happen while a member is in the middle of something.
func (m *model) meanwhile(p *member) {
	if m.calm || m.depth >= 2 {
		return
	}
	m.depth++
	defer func() { m.depth-- }()
	for range rapid.SampledFrom([]int{0, 0, 0, 0, 0, 0, 1, 1, 2, 5}).Draw(m.t, "meanwhile") {
		m.act()
	}
}

func (v *modelView) Err() error               { return nil }
func (v *modelView) Fault() error             { return nil }
func (v *modelView) Close()                   {}
func (v *modelView) Changed() <-chan struct{} { return nil }

// Sync makes the view show what there is.
func (v *modelView) Sync(ctx context.Context) error {
	if v.p.crashed || ctx.Err() != nil {
		return coord.ErrUnavailable
	}
	v.at = v.p.m.store.revision
	clear(v.ahead)
	return nil
}

// advance makes the view show something newer, though maybe not all of it.
func (v *modelView) advance() {
	m := v.p.m
	latest := m.store.revision
	if v.at == latest {
		return
	}
	v.at = rapid.Int64Range(v.at, latest).Draw(m.t, "shown")
	for path, at := range v.ahead {
		if at <= v.at {
			delete(v.ahead, path)
		}
	}
	if !m.how.torn || v.at == latest {
		return
	}
	// Some of the nodes that were written since are read again before the others.
	shown, now := m.history[v.at-m.first], m.history[latest-m.first]
	for _, path := range differing(shown, now) {
		if rapid.Bool().Draw(m.t, path) {
			v.ahead[path] = latest
		}
	}
}

// differing lists the paths of nodes that are not the same in two snapshots.
func differing(a, b coord.Snapshot) []string {
	var paths []string
	for n := range a.All("") {
		if other, ok := b.Get(n.Path); !ok || other.Modified != n.Modified {
			paths = append(paths, n.Path)
		}
	}
	for n := range b.All("") {
		if _, ok := a.Get(n.Path); !ok {
			paths = append(paths, n.Path)
		}
	}
	slices.Sort(paths)
	return paths
}

func (v *modelView) Snapshot() coord.Snapshot {
	m := v.p.m
	shown := m.history[v.at-m.first]
	if len(v.ahead) == 0 {
		return shown
	}
	tree := coord.NewTree()
	for n := range shown.All("") {
		if _, newer := v.ahead[n.Path]; !newer {
			tree.Put(n)
		}
	}
	for path, at := range v.ahead {
		if n, ok := m.history[at-m.first].Get(path); ok && n.Modified != 0 {
			tree.Put(n)
		}
	}
	return tree.Snapshot()
}

// pass is what the controller does when it wakes up: [controller.pass], whose steps the
// adversary may leave out.
func (p *member) pass() {
	m, c := p.m, p.c
	p.busy = true
	defer func() { p.busy = false }()
	c.passes++
	defer func() { c.endPass(c.now()) }()
	if gone, err := c.enter(); gone || err != nil {
		m.logf("%s: gone: %v", p.name, err)
		p.leaves()
		return
	}
	p.named()
	if c.stale {
		c.catchUp()
	} else if m.calm {
		p.view.Sync(m.ctx)
	} else {
		p.view.advance()
	}
	c.changed = nil
	c.look()
	c.settings.threads = m.some("threads", 3, 3)
	c.collect()
	w := c.world()
	if w.Config == nil {
		m.fatalf("%s: there is no configuration", p.name)
	}
	if c.isShutdown() && c.leaving == nil {
		c.leaving = ErrShutdown
		w.leaving = true
	}
	m.logf("%s: looks at %d of %d%s, %s", p.name, p.view.at, m.store.revision, p.view.tears(), c.self.id)
	c.lookAfterRuns(w)
	if m.likely("finish") {
		c.finish(w)
	}
	if c.leaving != nil {
		p.leave(w)
		return
	}
	if !w.registered() {
		if err := c.register(w); err != nil {
			m.fatalf("%s: register: %v", p.name, err)
		}
		p.named()
		return
	}
	c.seen = true
	for _, step := range []struct {
		name string
		do   func(*world)
	}{
		{"take over", c.takeOver}, {"obey", c.obey}, {"fire", c.fire}, {"hand back", c.handBack}, {"settle", c.settle},
	} {
		if m.likely(step.name) {
			step.do(w)
		}
	}
	if m.likely("lead") {
		if err := c.lead(w); err != nil {
			m.fatalf("%s: lead: %v", p.name, err)
		}
	}
	c.diagnose(w)
}

// named gives a new identity of a member a name that is the same in each run.
func (p *member) named() {
	if p.c.self.id != p.id {
		p.ids++
		p.id = fmt.Sprintf("%s%d", p.name, p.ids)
		p.c.self.id = p.id
	}
}

func (v *modelView) tears() string {
	if len(v.ahead) == 0 {
		return ""
	}
	return fmt.Sprintf(" with %v", slices.Sorted(maps.Keys(v.ahead)))
}

func (m *model) likely(what string) bool {
	return m.calm || rapid.IntRange(0, 7).Draw(m.t, what) > 0
}

func (m *model) some(what string, most, calm int) int {
	if m.calm {
		return calm
	}
	return rapid.IntRange(0, most).Draw(m.t, what)
}

func (p *member) leave(w *world) {
	m, c := p.m, p.c
	cancelled := func(r *run) bool { return context.Cause(p.handler[r]) == ErrShutdown }
	gone, err := c.leave(w)
	for r := range p.handler {
		if cancelled(r) && r.phase == executing && c.settings.Failover {
			m.mustRunAgain(p, r)
		}
	}
	if !gone {
		return
	}
	m.logf("%s: gone: %v", p.name, err)
	p.leaves()
}

func (p *member) leaves() {
	p.gone = true
	clear(p.handler)
}

// begin begins a run.
func (p *member) begin(r *run) {
	c := p.c
	c.executing++
	ctx, cancel := context.WithCancelCause(c.session.Context())
	r.cancel, r.phase, r.begun = cancel, executing, p.m.now
	p.handler[r] = ctx
	p.m.begins(p, r)
}

// begins checks what an execution says about itself.
func (m *model) begins(p *member, r *run) {
	m.logf("%s: begins item %d, %v of %v, token %d", p.name, r.item, r.source, r.tick.Format("04:05.000"), r.token)
	if p.crashed || p.handler[r].Err() != nil {
		return // its context ends before it has begun
	}
	for _, other := range m.members {
		for o, ctx := range other.handler {
			if o != r && o.item == r.item && !other.crashed && ctx.Err() == nil {
				m.fatalf("item %d begins on %s while it runs on %s", r.item, p.name, other.name)
			}
		}
	}
	if r.token <= m.token[r.item] {
		m.fatalf("item %d begins with the token %d after %d", r.item, r.token, m.token[r.item])
	}
	m.token[r.item] = r.token
	switch r.source {
	case SourceNormal, SourceMisfire:
		if r.tick.Nanosecond() != 0 {
			return // a triggered run that was begun in the same millisecond as its item's last
		}
		key := fmt.Sprintf("%d at %s", r.item, r.tick.Format("04:05.000"))
		if by, twice := m.begun[key]; twice {
			m.fatalf("item %s begins on %s, and has begun on %s", key, p.name, by)
		}
		m.begun[key] = p.name
	case SourceFailover:
		if m.cut[r.item] == "" {
			m.fatalf("item %d is taken over although nothing of it was cut short", r.item)
		}
		delete(m.cut, r.item)
		if at, ok := m.owed[r.item]; ok && !at.Equal(r.tick) {
			m.fatalf("item %d is taken over for %s, and not for %s", r.item, r.tick, at)
		}
		delete(m.owed, r.item)
	}
}

// returns lets a handler return.
func (p *member) returns(r *run, err error) {
	ctx := p.handler[r]
	delete(p.handler, r)
	r.err, r.cut = err, ctx.Err() != nil
	p.m.logf("%s: item %d returns, %v", p.name, r.item, err)
	if err == nil && r.cut && context.Cause(ctx) == ErrShutdown {
		delete(p.m.owed, r.item) // it has finished all the same
	}
	p.c.returned = append(p.c.returned, r)
}

// mustRunAgain notes that a run was cut short.
func (m *model) mustRunAgain(p *member, r *run) {
	item := m.state().Item(r.item)
	if item.Running == nil || item.Running.Owner != 0 || item.Running.ID != r.instance || item.Fired == nil || item.Fired.Modified != r.token {
		return // it was begun with failover off
	}
	if !m.config.Failover || r.item >= m.config.ShardingTotalCount {
		return
	}
	m.owed[r.item] = r.tick
}

// lookForCutRuns notes the records in the tree whose instance has ended.
func (m *model) lookForCutRuns() {
	s := m.state()
	for i := range s.Items {
		running := s.Items[i].Running
		if running == nil || s.Items[i].Fired == nil {
			continue
		}
		_, registered := s.Instances[running.ID]
		_, alive := s.Sessions[running.ID]
		key := fmt.Sprintf("%d: %d, %d", i, running.Created, s.Items[i].Fired.Modified)
		if !registered && !alive && !m.counted[key] {
			m.counted[key] = true
			m.cut[i] = running.ID
			if _, waits := m.owed[i]; waits {
				m.owed[i] = s.Items[i].Fired.Run // an item waits once, for the later one
			}
		}
	}
}

// applied looks at what a member has committed.
func (m *model) applied(by string, ops []coord.Op) {
	m.handedOver(by, ops)
	m.happened()
	before := jobtree.Read(m.before, m.job)
	var claimed, moved []int
	for _, op := range ops {
		number, leaf, _ := strings.Cut(strings.TrimPrefix(op.Path, m.job.Sharding()+"/"), "/")
		i, ok := jobtree.ParseItem(number)
		if !ok || !op.Kind.Writes() || op.Kind == coord.OpDelete || op.Kind == coord.OpDeleteTree {
			continue
		}
		item := before.Item(i)
		switch leaf {
		case "running":
			claimed = append(claimed, i)
		case "instance":
			if item.Running != nil {
				m.fatalf("item %d moves from %s to %s while it runs on %s", i, item.Owner.ID, op.Value, item.Running.ID)
			}
		case "fired":
			if item.Fired != nil && m.state().Item(i).Fired.Tick.After(item.Fired.Tick) {
				moved = append(moved, i)
			}
		}
	}
	for _, i := range moved {
		is := m.state().Item(i).Fired
		if !slices.Contains(claimed, i) {
			due := is.Tick.After(before.Schedule.Since)
			if due && m.config.Misfire == On && before.Schedule.Misfire && !m.excused[i] && m.excuse[i].Before(is.Tick.Add(-m.how.skew)) {
				m.fatalf("the tick %s of item %d is passed over", is.Tick, i)
			}
			continue
		}
		if before.Schedule == nil || !is.Tick.After(before.Schedule.Since) || before.Schedule.Cron != m.config.Cron {
			m.fatalf("item %d begins for %s, which is not due by the schedule", i, is.Tick)
		}
	}
}

// onWrite watches what happens to the tree.
func (m *model) onWrite(before, after *coord.Node) {
	if before == nil || after == nil || !strings.HasSuffix(after.Path, "/fired") {
		return
	}
	was, _, _ := strings.Cut(string(before.Value), " ")
	is, _, _ := strings.Cut(string(after.Value), " ")
	if is >= was {
		return
	}
	// A claim that was handed back.
	for _, p := range m.members {
		for r, ctx := range p.handler {
			if m.job.Fired(r.item) == after.Path && !p.crashed && ctx.Err() == nil {
				m.fatalf("%s goes back from %s to %s while the item runs on %s", after.Path, before.Value, after.Value, p.name)
			}
		}
	}
}

// handedOver notes that a member has put items up for others.
func (m *model) handedOver(by string, ops []coord.Op) {
	if ops[0].Kind != coord.OpOwned || !strings.HasPrefix(ops[0].Path, "settle/sessions/") {
		return
	}
	for _, op := range ops {
		item, ok := strings.CutPrefix(op.Path, m.job.FailoverItems()+"/")
		if !ok || op.Kind != coord.OpPut {
			continue
		}
		i, _ := jobtree.ParseItem(item)
		m.cut[i] = by
		for _, p := range m.members {
			if r := p.c.runs[i]; p.name == by && r != nil && r.phase == done && r.err == nil {
				m.fatalf("item %d is handed over although it has finished", i)
			}
		}
	}
}

// act does something at random.
func (m *model) act() {
	actions := []func(){m.doPass, m.doPass, m.doPass, m.doPass, m.doPass, m.doReturn, m.doReturn, m.doTime, m.doTime,
		m.doStart, m.doCrash, m.doLose, m.doExpire, m.doExpire, m.doShutdown, m.doDeadline, m.doRemove, m.doTrigger,
		m.doLand, m.doLand, m.doDisableItem, m.doDisableServer, m.doCatchUp}
	if m.how.config {
		actions = append(actions, m.doConfigure, m.doConfigure)
	}
	rapid.SampledFrom(actions).Draw(m.t, "action")()
}

// choose picks a member that lives.
func (m *model) choose(idle bool) *member {
	var list []*member
	for _, p := range m.members {
		if !p.crashed && !p.gone && (!idle || !p.busy) {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return rapid.SampledFrom(list).Draw(m.t, "member")
}

func (m *model) doPass() {
	if p := m.choose(true); p != nil {
		p.pass()
	}
}

func (m *model) doCatchUp() {
	if p := m.choose(true); p != nil {
		p.view.Sync(m.ctx)
	}
}

func (m *model) doReturn() {
	p := m.choose(false)
	if p == nil || len(p.handler) == 0 {
		return
	}
	r := rapid.SampledFrom(p.running()).Draw(m.t, "run")
	var err error
	if rapid.Bool().Draw(m.t, "fails") {
		err = errors.New("failed")
	}
	p.returns(r, err)
}

// running lists the runs of a member that have not returned, in the order of their items.
func (p *member) running() []*run {
	return slices.SortedFunc(maps.Keys(p.handler), func(a, b *run) int { return int(a.token - b.token) })
}

func (m *model) doTime() {
	m.now = m.now.Add(rapid.SampledFrom([]time.Duration{
		10 * time.Millisecond, 300 * time.Millisecond, 900 * time.Millisecond, 4 * time.Second, 30 * time.Second, time.Minute,
	}).Draw(m.t, "time"))
}

func (m *model) doStart() {
	live := 0
	for _, p := range m.members {
		if !p.crashed && !p.gone {
			live++
		}
	}
	if live < 3 {
		p := m.start()
		m.logf("%s: starts", p.name)
	}
}

// doCrash kills a process. Its session ends later.
func (m *model) doCrash() {
	if p := m.choose(false); p != nil && rapid.Bool().Draw(m.t, "really") {
		m.crash(p)
	}
}

func (m *model) crash(p *member) {
	m.logf("%s: crashes", p.name)
	for _, r := range p.running() {
		m.mustRunAgain(p, r)
	}
	p.crashed = true
	clear(p.handler)
	m.doomed = append(m.doomed, p.reg.session)
}

// doLose lets a process lose its session. The store drops it later.
func (m *model) doLose() {
	p := m.choose(false)
	if p == nil || rapid.Bool().Draw(m.t, "not") {
		return
	}
	m.logf("%s: loses session %d", p.name, p.reg.session.id)
	for _, r := range p.running() {
		if r.instance == p.c.self.id && p.handler[r].Err() == nil {
			m.mustRunAgain(p, r)
		}
	}
	p.reg.session.cancel(coord.ErrSessionLost)
	m.doomed = append(m.doomed, p.reg.session)
}

func (m *model) doExpire() {
	if len(m.doomed) == 0 {
		return
	}
	i := rapid.IntRange(0, len(m.doomed)-1).Draw(m.t, "session")
	m.logf("store: session %d expires", m.doomed[i].id)
	m.store.expire(m.doomed[i].id)
	m.happened()
	m.doomed = slices.Delete(m.doomed, i, i+1)
}

func (m *model) doShutdown() {
	if p := m.choose(false); p != nil && rapid.Bool().Draw(m.t, "really") {
		m.logf("%s: is told to shut down", p.name)
		p.c.shutdown = true
	}
}

// doDeadline ends the time that a process has to drain.
func (m *model) doDeadline() {
	if p := m.choose(true); p != nil && p.c.shutdown && p.c.stopping.Err() == nil {
		m.logf("%s: its time to drain is over", p.name)
		p.stop()
	}
}

// doRemove removes an instance as an operator does.
func (m *model) doRemove() {
	if p := m.choose(false); p != nil && p.c.self.id != "" && rapid.Bool().Draw(m.t, "really") {
		m.logf("operator: removes %s", p.c.self.id)
		m.operate(coord.Exists(m.job.Instance(p.c.self.id)), coord.Delete(m.job.Instance(p.c.self.id)))
	}
}

func (m *model) doTrigger() {
	p := m.choose(false)
	if p == nil || p.c.self.id == "" {
		return
	}
	var r jobtree.Request // for all items that it owns, as ElasticJob writes it
	if rapid.Bool().Draw(m.t, "some items") {
		r.Items = rapid.SliceOfNDistinct(rapid.IntRange(0, m.config.ShardingTotalCount-1), 1, -1, rapid.ID[int]).Draw(m.t, "items")
	}
	value, err := jobtree.EncodeRequest(r)
	if err != nil {
		m.t.Fatal(err)
	}
	m.logf("operator: triggers %v of %s", r.Items, p.c.self.id)
	m.operate(coord.Exists(m.job.Instance(p.c.self.id)), coord.Create(m.job.Trigger(p.c.self.id), value))
}

func (m *model) doLand() {
	if len(m.late) == 0 {
		return
	}
	i := rapid.IntRange(0, len(m.late)-1).Draw(m.t, "late")
	l := m.late[i]
	m.late = slices.Delete(m.late, i, i+1)
	m.before = m.store.tree.Snapshot()
	_, err := m.store.commit(l.session, l.ops...)
	m.logf("%s: a commit lands late, %v: %s", l.by, err, describe(l.ops))
	if err == nil {
		m.applied(l.by, l.ops)
	}
}

func (m *model) doDisableItem() {
	i := rapid.IntRange(0, m.config.ShardingTotalCount-1).Draw(m.t, "item")
	if !m.store.tree.Snapshot().Exists(m.job.Item(i)) {
		return
	}
	if rapid.IntRange(0, 2).Draw(m.t, "on") > 0 {
		m.logf("operator: enables item %d", i)
		m.operate(coord.DeleteTree(m.job.ItemDisabled(i)))
	} else {
		m.logf("operator: disables item %d", i)
		m.operate(coord.Put(m.job.ItemDisabled(i), nil))
	}
}

func (m *model) doDisableServer() {
	if len(m.members) == 0 {
		return
	}
	p := rapid.SampledFrom(m.members).Draw(m.t, "server")
	state := rapid.SampledFrom([]string{jobtree.Enabled, jobtree.Enabled, jobtree.Disabled}).Draw(m.t, "state")
	m.logf("operator: %s is %s", p.c.self.ip, state)
	m.operate(coord.Put(m.job.Server(p.c.self.ip), []byte(state)))
}

func (m *model) doConfigure() {
	switch rapid.IntRange(0, 3).Draw(m.t, "field") {
	case 0:
		m.config.ShardingTotalCount = rapid.IntRange(1, 3).Draw(m.t, "total")
	case 1:
		m.config.Failover = rapid.SampledFrom(m.how.switches).Draw(m.t, "failover")
	case 2:
		m.config.Misfire = ToggleOf(rapid.SampledFrom(m.how.switches).Draw(m.t, "misfire"))
	case 3:
		m.config.Cron = rapid.SampledFrom([]string{"0 * * * * ?", "30 * * * * ?"}).Draw(m.t, "cron")
	}
	m.configure()
}

// settleDown lets everybody look at what there is until nobody wants anything more.
func (m *model) settleDown() {
	const enough, quiet = 60, 5
	still := 0
	for range enough {
		before := m.tries
		for _, p := range slices.Clone(m.members) {
			if p.crashed || p.gone {
				continue
			}
			p.pass()
		}
		if still++; m.tries != before {
			still = 0
		}
		if still == quiet {
			return
		}
		m.now = m.now.Add(settleAfter/(quiet-1) + time.Millisecond)
	}
	m.fatalf("there is no end to it")
}

// finale calms everything down and checks what must be true then.
func (m *model) finale() {
	m.logf("--- it calms down")
	m.calm = true
	for _, p := range m.members {
		clear(p.c.troubles)
	}
	if rapid.Bool().Draw(m.t, "the late ones land") {
		for len(m.late) > 0 {
			m.doLand()
		}
	}
	m.late = nil
	for len(m.doomed) > 0 {
		m.doExpire()
	}
	if m.choose(false) == nil || rapid.Bool().Draw(m.t, "one more comes") {
		m.start()
	}
	if rapid.Bool().Draw(m.t, "servers are enabled") {
		for ip := range m.state().Servers {
			m.operate(coord.Put(m.job.Server(ip), []byte(jobtree.Enabled)))
		}
	}
	// Long after a tick, and as long before the next one.
	m.now = m.now.Truncate(time.Minute).Add(time.Minute + 2*time.Second)
	m.settleDown()
	m.checkOwners()
	for range 8 {
		busy := false
		for _, p := range m.members {
			for _, r := range p.running() {
				p.returns(r, nil)
				busy = true
			}
		}
		if !busy {
			m.checkRest()
			return
		}
		m.settleDown()
	}
	m.fatalf("runs follow each other without an end")
}

// available lists the instances that may have items.
func (m *model) available(s *jobtree.State) []string {
	var ids []string
	for id, in := range s.Instances {
		if s.ServerEnabled(in.IP) {
			ids = append(ids, id)
		}
	}
	return ids
}

func (m *model) checkOwners() {
	s := m.state()
	available := m.available(s)
	if len(available) == 0 {
		return
	}
	if s.Leader == nil || !slices.Contains(available, s.Leader.ID) {
		m.fatalf("nobody leads who may")
	}
	for i := range m.config.ShardingTotalCount {
		item := s.Item(i)
		if item.Running != nil {
			if _, alive := s.Sessions[item.Running.ID]; !alive {
				m.fatalf("item %d has a record of %s, which has ended", i, item.Running.ID)
			}
			continue
		}
		if item.Owner == nil || !slices.Contains(available, item.Owner.ID) {
			m.fatalf("item %d has no owner that may run it", i)
		}
	}
}

// checkRest checks a cluster in which nothing runs and nothing more is wanted.
func (m *model) checkRest() {
	s := m.state()
	available := m.available(s)
	if len(available) == 0 {
		return
	}
	m.checkOwners()
	for i := range s.Items {
		item := s.Items[i]
		if i >= m.config.ShardingTotalCount {
			m.fatalf("item %d is still there", i)
		}
		if item.Running != nil || item.Failovering != nil || item.Failover != nil {
			m.fatalf("item %d has records of a run, and nothing runs", i)
		}
		if item.Disabled {
			continue
		}
		if _, waits := m.owed[i]; waits {
			m.fatalf("item %d was cut short, and was not run again", i)
		}
		if m.config.Misfire == On {
			last := m.lastTick(s)
			if !last.IsZero() && item.Fired.Tick.Before(last) {
				m.fatalf("item %d has run for %s, and not for %s", i, item.Fired.Tick, last)
			}
		}
	}
	for _, waiting := range s.FailoverItems {
		if !s.Item(waiting.Item).Disabled {
			m.fatalf("item %d waits for failover", waiting.Item)
		}
	}
	if len(s.Triggers) > 0 {
		m.fatalf("triggers are left: %v", s.Triggers)
	}
	for _, p := range m.members {
		if len(p.c.runs) > 0 && !p.crashed && !p.gone {
			m.fatalf("%s thinks that %v run", p.name, slices.Sorted(maps.Keys(p.c.runs)))
		}
	}
}

func (m *model) lastTick(s *jobtree.State) time.Time {
	for _, p := range m.members {
		if !p.crashed && !p.gone {
			w := p.c.world()
			w.State = s
			return w.lastTick()
		}
	}
	return time.Time{}
}

func playModel(how modelOptions) func(*rapid.T) {
	return func(t *rapid.T) {
		m := newModel(t, how)
		m.start()
		t.Repeat(map[string]func(*rapid.T){"act": func(*rapid.T) { m.act() }})
		t.Repeat(map[string]func(*rapid.T){"act": func(*rapid.T) { m.act() }})
		m.finale()
	}
}

func TestClusterModel(t *testing.T) {
	both := []bool{true, false}
	// More than the usual number of checks: go test -run ClusterModel -rapid.checks 10000.
	for name, how := range map[string]modelOptions{
		"failover and misfire":     {switches: []bool{true}},
		"neither":                  {switches: []bool{false}},
		"configuration changes":    {switches: both, config: true},
		"views that show in parts": {switches: []bool{true}, torn: true},
		"configuration in parts":   {switches: both, config: true, torn: true},
		"a one-off job":            {switches: []bool{true}, oneOff: true},
		"clocks differ":            {switches: []bool{true}, skew: 1500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) { rapid.Check(t, playModel(how)) })
	}
}
