package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/internal/engine/once"
	"github.com/elasticjob-go/elasticjob/internal/engine/pool"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/modelstore"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// The model simulates a cluster. It has a store that keeps the contract of coord, processes
// with the real controller's state and the real steps, and an adversary (rapid). The adversary
// decides who acts, on how old a snapshot, what happens between a decision and its commit,
// which answers get lost, which commits are carried out late, who dies, and what operators do.
// The promises are checked by what can be seen from outside: the handlers that run, and the
// tree.
//
// The model has its own time. Handlers run until the adversary lets them return.
type model struct {
	t       *rapid.T
	how     modelOptions
	job     jobtree.Job
	store   *modelstore.Store
	history []coord.Snapshot // by revision, from the first on
	first   int64
	now     time.Time
	ctx     context.Context
	config  jobtype.Config
	members []*member
	seats   int // how many members were ever started
	session coord.SessionID
	doomed  []*modelSession // lost by their process, not yet by the store
	late    []lateCommit
	depth   int // how deeply actions are nested that happen between a decision and its commit
	calm    bool
	before  *jobtree.State // a commit
	read    *jobtree.State // at revision readAt
	readAt  int64
	tries   int // commits that were tried
	journal []string

	// What can be seen from outside.
	begun   map[string]string // by item and tick: who began it by its schedule
	token   map[int]int64     // by item: the token of its last execution
	cut     map[int]string    // by item: why a run of it was cut short
	owed    map[int]time.Time // by item: the tick for which it must be run again
	tasks   map[string]*run   // by task id: the executions that have begun
	counted map[string]bool   // the records that are in cut already
	excused map[int]bool      // items that cannot run now: disabled, no instance available, or no leader
	excuse  map[int]time.Time // by item: the last time at which it could not run

	gone bool // the job was removed

	calendars map[int64]*pool.Calendar // by revision: reading one takes longer than a pass

	ticks map[int64]*modelTick // those that once-listeners are told of, in milliseconds

	steering
	spreading
}

type modelOptions struct {
	// torn is whether views may show commits in parts.
	torn bool
	// config is whether an operator may change the configuration.
	config bool
	// steers is whether an operator kills, pauses and makes requests.
	steers bool
	// once is whether the job has a once-listener.
	once bool
	// calendars is whether the job goes by a calendar, which an operator changes.
	calendars bool
	// expires is whether the job may end, and be removed then.
	expires bool
	// few is whether an instance may have few items, until it calms down.
	few bool
	// oneOff is whether the job has no schedule.
	oneOff bool
	// switches are the values that failover and misfire may have.
	switches []bool
	// jitter is whether items begin some time after their ticks.
	jitter bool
	// skips is whether ticks that overlap may be skipped.
	skips bool
	// broadcast is whether the job is a broadcast job.
	broadcast bool
	// quiet is whether nobody ends, and no operator does anything.
	quiet bool
	// ahead is whether most items are claimed for their next tick by the commits that finish their runs.
	ahead bool
	// skew is how far clocks may be off, ahead or behind.
	skew time.Duration
}

// jitters are the values that the jitter may have.
func (how modelOptions) jitters() []time.Duration {
	switch {
	case how.jitter && how.once: // else there always is a tick that some items have not begun
		return []time.Duration{20 * time.Second}
	case how.jitter:
		return []time.Duration{20 * time.Second, time.Hour}
	}
	return []time.Duration{0}
}

// overlaps are the values that the overlap may have.
func (how modelOptions) overlaps() []jobtype.Overlap {
	if how.skips {
		return []jobtype.Overlap{jobtype.OverlapWait, jobtype.OverlapSkip}
	}
	return []jobtype.Overlap{jobtype.OverlapWait}
}

// member is a process.
type member struct {
	m       *model
	c       *controller
	name    string
	ids     int // how many identities it has had
	reg     *modelRegistry
	view    *modelView
	busy    bool // it is within a pass
	crashed bool
	isGone  bool
	handler map[*run]context.Context // the contexts of handlers that have not returned
	leave   context.CancelFunc       // asks for a shutdown
	stop    context.CancelFunc       // ends the time to drain
}

// begin is when the model's time begins. Schedules fire each minute.
var begin = time.Date(2026, time.January, 5, 10, 0, 0, 0, time.UTC)

func newModel(t *rapid.T, how modelOptions) *model {
	m := &model{
		t: t, how: how, job: "settle", store: modelstore.New(),
		now:   begin.Add(time.Millisecond),
		ctx:   context.Background(),
		begun: map[string]string{}, token: map[int]int64{}, cut: map[int]string{},
		owed: map[int]time.Time{}, counted: map[string]bool{}, tasks: map[string]*run{},
		excused: map[int]bool{}, excuse: map[int]time.Time{}, calendars: map[int64]*pool.Calendar{},
		ticks:    map[int64]*modelTick{},
		steering: newSteering(), spreading: newSpreading(),
	}
	m.first = m.store.Revision()
	m.history = []coord.Snapshot{m.store.Snapshot()}
	m.store.Written = m.onWrite
	m.config = jobtype.Config{
		Name: "settle", Cron: "0 * * * * ?", TimeZone: "UTC", ReconcileInterval: -time.Minute,
		ShardingTotalCount: rapid.IntRange(1, 3).Draw(t, "total"),
		Failover:           rapid.SampledFrom(how.switches).Draw(t, "failover"),
		Misfire:            jobtype.ToggleOf(rapid.SampledFrom(how.switches).Draw(t, "misfire")),
		Threads:            rapid.IntRange(1, 3).Draw(t, "threads"),
		Strategy:           rapid.SampledFrom([]string{"AVG_ALLOCATION", "STICKY"}).Draw(t, "strategy"),
		Jitter:             rapid.SampledFrom(how.jitters()).Draw(t, "jitter"),
		Overlap:            rapid.SampledFrom(how.overlaps()).Draw(t, "overlap"),
	}
	if how.few {
		m.config.MaxItems = rapid.IntRange(1, 2).Draw(t, "max items")
	}
	if how.once {
		m.config.Listeners = []string{"ONCE"}
	}
	if how.oneOff {
		m.config.Cron = ""
	}
	if how.broadcast {
		m.config.Broadcast, m.config.Failover = true, false
	}
	if how.expires {
		m.config.Expiry = m.drawExpiry()
	}
	if how.calendars {
		m.config.Calendars = []string{modelCalendar}
		m.putCalendar()
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
	for n := range m.store.Snapshot().All("") {
		if !strings.HasSuffix(n.Path, "/config") {
			fmt.Fprintf(&b, "%s = %s (version %d, modified %d, owner %d)\n", n.Path, n.Value, n.Version, n.Modified, n.Owner)
		}
	}
	return b.String()
}

// state returns what the store has now. Checks ask for it many times: it is read once for each revision.
func (m *model) state() *jobtree.State {
	if at := m.store.Revision(); m.read == nil || m.readAt != at {
		m.read, m.readAt = jobtree.Read(m.store.Snapshot(), m.job), at
	}
	return m.read
}

// happened records the store's state after a commit.
func (m *model) happened() {
	for int64(len(m.history)) <= m.store.Revision()-m.first {
		m.history = append(m.history, m.store.Snapshot())
	}
	m.lookForCutRuns()
	m.lookAtTicks()
	s := m.state()
	m.lookForLapses(s)
	nobody := len(m.available(s)) == 0 || s.Leader == nil
	for i := range m.config.ShardingTotalCount {
		if m.excused[i] {
			m.excuse[i] = m.now
		}
		m.excused[i] = nobody || s.Item(i).Disabled || m.how.few && !m.calm
	}
}

// operate commits as an operator does.
func (m *model) operate(ops ...coord.Op) bool {
	if m.gone && m.writesJob(ops) {
		m.logf("operator: the job is gone")
		return false
	}
	_, err := m.store.Commit(0, ops...)
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

// moment is the reading of the monotonic clock of all processes.
func (m *model) moment() clocks.Moment { return clocks.Moment{}.Add(m.now.Sub(begin)) }

// start starts a new process.
func (m *model) start() *member {
	m.seats++
	p := &member{m: m, name: string(rune('a' + (m.seats-1)%26)), handler: map[*run]context.Context{}}
	p.view = &modelView{p: p, at: m.store.Revision(), ahead: map[string]int64{}}
	p.reg = &modelRegistry{p: p}
	skew := rapid.SampledFrom([]time.Duration{0, m.how.skew, -m.how.skew}).Draw(m.t, "skew")
	leads := []*time.Duration{nil, new(time.Duration(0)), new(time.Second), new(10 * time.Second)}
	if m.how.ahead {
		leads = []*time.Duration{new(aheadLead)}
	}
	lead := rapid.SampledFrom(leads).Draw(m.t, "lead")
	o := setup.DefaultOptions()
	o.Listeners = map[string]*exec.Listener{"ONCE": modelListener()}
	o.Lead, o.IP = lead, fmt.Sprintf("host-%d", m.seats%3)
	o.Now = func() time.Time { return clocks.Stripped(m.now.Add(skew)) }
	err := o.PairLoggers()
	if err != nil {
		m.t.Fatal(err)
	}
	o.Moment = m.moment
	s, err := o.Prepare(m.config, jobtype.HandlerFunc(func(context.Context, jobtype.ShardingContext) error { return nil }))
	if err != nil {
		m.t.Fatal(err)
	}
	p.c = newController(p.reg, p.view, s, o, s.Config)
	p.c.seams = seams{newID: p.newID, execute: p.begin, skips: p.omits, afterPartial: p.audit}
	p.c.commits.Sequential = true
	p.c.calls = once.New(once.Config{Log: p.c.log, Slog: o.Slog, Working: &p.c.working, Wake: p.c.requestFullPass, Commit: p.c.commits.Commit, Begin: p.call})
	p.c.started = func() {}
	var shutdown, stopping context.Context
	shutdown, p.leave = context.WithCancel(m.ctx)
	stopping, p.stop = context.WithCancel(m.ctx)
	p.c.connect(pool.Job{Calendars: &modelCalendars{p: p, at: m.store.Revision()}}, shutdown, stopping)
	p.reg.open()
	m.members = append(m.members, p)
	return p
}

// pass does what the controller does when it wakes up. The adversary leaves steps out.
func (p *member) pass() {
	m, c := p.m, p.c
	p.busy = true
	defer func() { p.busy = false }()
	if rapid.Bool().Draw(m.t, "a timer wakes it") {
		c.startDue()
	}
	if m.calm {
		p.view.Sync(m.ctx)
	} else {
		p.view.advance()
	}
	c.changed = nil
	c.settings.ThreadCount = m.some("threads", 3, 3)
	m.logf("%s: looks at %d of %d%s, %s", p.name, p.view.at, m.store.Revision(), p.view.tears(), c.self.ID)
	err := c.reconcile()
	for r, ctx := range p.handler {
		if context.Cause(ctx) == jobtype.ErrShutdown && r.phase == exec.Executing && c.settings.Failover {
			m.mustRunAgain(p, r)
		}
	}
	if err != nil {
		m.fatalf("%s: %v", p.name, err)
	}
	if c.departure.stage == terminated {
		m.logf("%s: gone: %v", p.name, c.departure.err)
		p.isGone = true
		clear(p.handler)
	}
}

// audit fails the test if a partial pass has left something to be done that a full one would
// have done.
func (p *member) audit() {
	c := p.c
	if c.full || !c.isQuiescent() || p.view.at < p.m.store.Revision() {
		return // a full pass follows, or the view does not show yet what was done
	}
	world := c.newWorld()
	w := &world
	if c.inputsOf(w) != c.inputs {
		return // so does one here
	}
	// An item that is to move elsewhere may be held, and then a timer wakes the controller.
	due := slices.DeleteFunc(append(w.Due(c.work), w.Early(c.work)...), func(d decide.Due) bool {
		return w.CanHold(d) && w.MayHoldForRebalance(c.work, d.Item)
	})
	left := map[string][]decide.Change{
		"fail over": w.FailOver(c.work, c.idle()),
		"fire":      w.Fire(due, c.claimable()),
		"flag":      w.MarkMisfire(c.work),
		"skip":      w.Skip(c.work),
		"begin":     w.ClaimRequested(append(w.Requested(c.work, false), w.Requested(c.work, true)...)),
	}
	if w.Leads() {
		owners, err := c.desired(w)
		if err != nil {
			p.m.fatalf("%s: %v", p.name, err)
		}
		for step, changes := range map[string][]decide.Change{
			"tidy": w.Tidy(), "mark for failover": w.MarkForFailover(w.Orphans()), "rewind": w.Rewind(), "clean": w.Clean(), "expire": w.Expire(c.work), "assign": w.Assign(owners),
		} {
			left[step] = changes
		}
	}
	for step, changes := range left {
		if len(changes) > 0 {
			p.m.fatalf("%s: a partial pass has left something to %s: %v", p.name, step, changes)
		}
	}
	if elect := w.Elect(); elect != nil {
		p.m.fatalf("%s: a partial pass has left somebody to elect", p.name)
	}
}

// auditSubset fails the test if a partial pass over some items would commit something that a full one would not.
func (p *member) auditSubset() {
	decisions := map[string]func(w *decide.World) []decide.Change{
		"fire": func(w *decide.World) []decide.Change {
			return w.Fire(append(w.Due(p.c.work), w.Early(p.c.work)...), 1000)
		},
		"mark for failover": func(w *decide.World) []decide.Change { return w.MarkForFailover(w.Orphans()) },
		"advance ticks":     (*decide.World).AdvanceTicks,
		"settle": func(w *decide.World) (changes []decide.Change) {
			for _, item := range w.Leftovers(p.c.work) {
				changes = append(changes, w.Settle(p.c.work, item))
			}
			return changes
		},
	}
	for _, s := range decide.Steps() {
		if s.Partial && s.Decide != nil && s.Roles&p.c.role(&p.c.current) != 0 {
			decisions[s.Name] = func(w *decide.World) []decide.Change { return s.Decide(w, p.c.work).Changes }
		}
	}
	partial, full := p.c.current, p.c.current
	partial.Dirty, full.Dirty = []int{}, nil
	for item := range partial.Items {
		if rapid.Bool().Draw(p.m.t, "dirty") {
			partial.Dirty = append(partial.Dirty, item)
		}
	}
	for step, changes := range decisions {
		whole := operationsOf(changes(&full))
		if step == "fire" && full.Rules.Broadcast && len(whole) > 0 {
			continue // it begins one item of those that are due, and a partial pass may begin another one
		}
		for op := range operationsOf(changes(&partial)) {
			if !whole[op] {
				p.m.fatalf("%s: a partial pass over %v wants to %s by %s, a full one does not", p.name, partial.Dirty, step, op)
			}
		}
	}
}

// operationsOf returns the operations of changes, without values: a node may say of several items how they stand.
func operationsOf(changes []decide.Change) map[string]bool {
	list := map[string]bool{}
	for _, change := range changes {
		for _, op := range change.Ops {
			list[fmt.Sprintf("%v %s at version %d", op.Kind, op.Path, op.Version)] = true
		}
	}
	return list
}

// newID gives a member a new identity, with an id that is the same in each run of the test.
func (p *member) newID() string {
	p.ids++
	id := jobtree.InstanceID(p.name, 1, strconv.Itoa(p.ids))
	p.m.joined[id] = p.m.now
	return id
}

// omits reports whether the adversary leaves a step out: one that may be late, or fail, and
// does no harm then but a delay.
func (p *member) omits(step string) bool {
	if step == "restore" && !p.m.calm { // the first step of a partial pass
		p.auditSubset()
	}
	switch step {
	case "restore", "leave", "register", "diagnose", "report":
		return false
	}
	return !p.m.likely(step)
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

// begin begins a run.
func (p *member) begin(r *run) {
	c := p.c
	if r.Source == decide.Normal && r.Tick.After(c.now()) {
		p.m.fatalf("%s: item %d begins before its tick %s", p.name, r.Item, r.Tick)
	}
	ctx, cancel := context.WithCancelCause(c.session.Context())
	r.cancel, r.phase, r.begun = cancel, exec.Executing, c.instant()
	p.handler[r] = ctx
	p.m.begins(p, r)
}

// returns lets a handler return.
func (p *member) returns(r *run, err error) {
	ctx := p.handler[r]
	delete(p.handler, r)
	p.m.checkKilled(r, ctx, err)
	r.ending = exec.Ending{Outcome: exec.OutcomeOf(ctx, err), Err: err, At: p.c.instant(), Attempts: 1}
	r.ending.IsCut = ctx.Err() != nil && r.ending.Outcome != jobtype.OutcomeKilled
	p.m.logf("%s: item %d returns, %v", p.name, r.Item, err)
	if err == nil && r.ending.IsCut && context.Cause(ctx) == jobtype.ErrShutdown {
		delete(p.m.owed, r.Item) // it was cut short, but has finished all the same
	}
	p.c.returned = append(p.c.returned, r)
}

// settleDown lets all members go through their steps until none has anything to do.
func (m *model) settleDown() {
	const enough, quiet = 60, 5
	still := 0
	for range enough {
		before := m.tries
		for _, p := range slices.Clone(m.members) {
			if p.crashed || p.isGone {
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

// claimedEarly reports whether an item was claimed before its tick, for which it waits.
func (m *model) claimedEarly() bool {
	return slices.ContainsFunc(m.members, func(p *member) bool {
		return !p.crashed && !p.isGone && slices.ContainsFunc(slices.Collect(maps.Values(p.c.runs)), func(r *run) bool {
			return r.phase == exec.Queued && r.Tick.After(p.c.now())
		})
	})
}

// finale ends all disturbances, lets the cluster settle down, and checks it.
func (m *model) finale() {
	m.logf("--- it calms down")
	m.calm = true
	for _, p := range m.members {
		p.c.commits.Forget()
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
	m.resume()
	if m.config.MaxItems > 0 && !m.gone {
		m.config.MaxItems = 0
		m.configure()
	}
	if m.how.calendars && rapid.IntRange(0, 3).Draw(m.t, "the calendar comes back") > 0 {
		m.putCalendar()
	}
	if m.choose(false) == nil || rapid.Bool().Draw(m.t, "one more comes") {
		m.start()
	}
	if rapid.Bool().Draw(m.t, "servers are enabled") {
		for ip := range m.state().Servers {
			m.operate(coord.Put(m.job.Server(ip), []byte(jobtree.Enabled)))
		}
	}
	for _, p := range m.members {
		p.signsOff()
	}
	// Two seconds after a tick, by all clocks, it counts as missed, and the next one is far away.
	m.now = m.now.Truncate(time.Minute).Add(time.Minute + 2*time.Second + m.how.skew)
	m.settleDown()
	if m.gone {
		m.finishGone()
		return
	}
	m.checkOwners()
	for range 16 + 3*maxModelRequests {
		busy := false
		for _, p := range m.members {
			for _, r := range p.running() {
				p.returns(r, nil)
				busy = true
			}
		}
		for _, call := range m.openCalls() {
			m.callReturns(call)
			busy = true
		}
		if !busy && m.claimedEarly() {
			m.now = m.now.Truncate(30 * time.Second).Add(30*time.Second + m.config.Jitter + 2*time.Second)
			busy = true
		}
		if !busy && m.waitsForTicks() {
			// What was to end cannot, and then its time is over. All items have begun the last tick: it came at the
			// minute or the half minute, and items start up to 20 s later.
			m.now = m.now.Truncate(time.Minute).Add(4*time.Minute + 52*time.Second)
			busy = true
		}
		if !busy {
			m.checkRest()
			return
		}
		m.settleDown()
		if m.gone {
			m.finishGone()
			return
		}
	}
	m.fatalf("runs follow each other without an end")
}

func playModel(how modelOptions) func(*rapid.T) {
	return func(t *rapid.T) {
		m := newModel(t, how)
		m.start()
		if how.quiet {
			m.start()
		}
		t.Repeat(map[string]func(*rapid.T){"act": func(*rapid.T) { m.act() }})
		t.Repeat(map[string]func(*rapid.T){"act": func(*rapid.T) { m.act() }})
		m.finale()
	}
}

// Each check plays one of the variants of its group. More than the usual number of checks:
//
//	go test -run ClusterModel -rapid.checks 10000
//	go test -run 'ClusterModel/^calendars$' -rapid.checks 10000
func TestClusterModel(t *testing.T) {
	both, on := []bool{true, false}, []bool{true}
	for name, group := range map[string][]modelOptions{
		"plain": {
			{switches: on}, {switches: []bool{false}}, {switches: on, oneOff: true}, {switches: on, torn: true},
		},
		"configuration": {
			{switches: both, config: true}, {switches: both, config: true, torn: true},
		},
		"clocks": {
			{switches: on, skew: 1500 * time.Millisecond},
		},
		"steered": {
			{switches: both, config: true, steers: true, skips: true}, {switches: on, steers: true, torn: true},
			{switches: on, steers: true, oneOff: true},
		},
		"ahead": {
			{switches: both, ahead: true}, {switches: both, ahead: true, config: true, torn: true}, {switches: both, ahead: true, steers: true, skips: true},
			{switches: on, ahead: true, calendars: true, few: true}, {switches: both, ahead: true, expires: true, steers: true, torn: true},
		},
		"jitter": {
			{switches: both, config: true, steers: true, jitter: true},
		},
		"broadcast": {
			{switches: both, broadcast: true}, {switches: both, broadcast: true, config: true},
			{switches: both, broadcast: true, config: true, steers: true, torn: true},
			{switches: both, broadcast: true, steers: true, oneOff: true},
		},
		"once-listeners": {
			{switches: both, config: true, once: true}, {switches: both, steers: true, once: true, torn: true},
			{switches: both, steers: true, once: true, skew: 6 * time.Second},
		},
		"once-listeners and clocks": {
			{switches: on, once: true, skew: 6 * time.Second, quiet: true},
		},
		"calendars": {
			{switches: both, config: true, steers: true, calendars: true}, {switches: on, torn: true, calendars: true},
		},
		"expiry": {
			{switches: both, config: true, expires: true}, {switches: both, expires: true, torn: true}, {switches: on, steers: true, expires: true, torn: true},
			{switches: on, expires: true, oneOff: true, steers: true}, {switches: both, broadcast: true, expires: true, torn: true},
			{switches: both, once: true, jitter: true, expires: true},
		},
		"room": {
			{switches: both, few: true}, {switches: on, few: true, steers: true, config: true, torn: true},
		},
		"mixed": {
			{switches: both, config: true, steers: true, skips: true, once: true, jitter: true},
			{switches: both, config: true, steers: true, broadcast: true, once: true, torn: true},
			{switches: both, config: true, steers: true, skips: true, once: true, jitter: true, calendars: true, few: true, torn: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				playModel(group[rapid.IntRange(0, len(group)-1).Draw(t, "variant")])(t)
			})
		})
	}
}
