package decide_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/modelstore"
	"github.com/elasticjob-go/elasticjob/job/cronexpr"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// fixture is a tree of one job, put together by hand. The instances "A", "B" … have the
// sessions 'A', 'B' … and stand on the hosts "host-A" and so on.
type fixture struct {
	testing.TB
	store *modelstore.Store
	job   jobtree.Job
	now   time.Time
	rules *decide.Rules // of the configuration that is in the tree

	// What the process that decides knows by itself.
	work       *decide.Work
	free       int // threads
	clock      decide.Clock
	slack      time.Duration
	former     *decide.Former // nil while the recorded schedule is in force
	refused    int64
	leaving    bool
	absent     map[string]clocks.Moment
	leaderless time.Duration
	labels     []string
	mixed      *decide.Mixed // as it was seen at the last pass

	strategy string // by its name
}

// begin is when the schedule of a fixture came into force.
var begin = time.Date(2026, time.January, 5, 10, 0, 0, 0, time.UTC)

// tick is the nth tick of a fixture: five seconds lie between two. The 0th was when the
// schedule came into force, so it is not due.
func tick(n int) time.Time { return begin.Add(time.Duration(n) * 5 * time.Second) }

// given starts a tree: a job with three items, failover and misfire on, changed as the test
// likes, shortly after its first tick. Nobody is registered.
func given(t testing.TB, changes ...func(*decide.Rules)) *fixture {
	t.Helper()
	f := &fixture{
		TB: t, store: modelstore.New(), job: "settle", now: tick(1).Add(100 * time.Millisecond),
		rules: &decide.Rules{
			Name: "settle", Total: 3, Cron: "0/5 * * * * ?", TimeZone: "UTC",
			Monitor: true, Failover: true, Misfire: true, Tolerance: time.Second,
		},
		work: decide.NewWork(), free: 1000, absent: map[string]clocks.Moment{}, leaderless: time.Hour,
	}
	f.configure(changes...)
	return f
}

// configure changes the configuration, and the schedule in force with it.
func (f *fixture) configure(changes ...func(*decide.Rules)) {
	f.Helper()
	f.reconfigure(changes...)
	document, err := jobtree.EncodeSchedule(jobtree.ScheduleDocument{
		Cron: f.rules.Cron, TimeZone: f.rules.TimeZone, Misfire: f.rules.Misfire, Unmonitored: !f.rules.Monitor, Broadcast: f.rules.Broadcast, Since: begin,
		ExpiresAt: f.rules.ExpiresAt, Until: f.rules.ExpiresAt,
	})
	if err != nil {
		f.Fatal(err)
	}
	f.put("schedule", string(document))
}

// reconfigure changes the configuration only.
func (f *fixture) reconfigure(changes ...func(*decide.Rules)) {
	f.Helper()
	rules := *f.rules // a world that was taken before keeps its own
	for _, change := range changes {
		change(&rules)
	}
	rules.Ticks = nil
	if rules.Cron != "" {
		zone, err := cronexpr.LoadLocation(rules.TimeZone)
		if err != nil {
			f.Fatal(err)
		}
		s, err := cronexpr.Parse(rules.Cron, zone)
		if err != nil {
			f.Fatal(err)
		}
		rules.Ticks = cronexpr.Union{s}
	}
	f.rules = &rules
	f.put("config", "is read by nobody here")
}

// put writes a persistent node below the job, also where only an external writer does.
func (f *fixture) put(path, value string) *fixture {
	f.Helper()
	if err := f.store.Plant(f.path(path), []byte(value)); err != nil {
		f.Fatal(err)
	}
	return f
}

// create writes an ephemeral node of an instance's session.
func (f *fixture) create(owner, path, value string) *fixture {
	f.Helper()
	return f.must(sessionOf(owner), coord.CreateEphemeral(f.path(path), []byte(value)))
}

// remove takes nodes away, with all below them.
func (f *fixture) remove(paths ...string) *fixture {
	f.Helper()
	for _, path := range paths {
		f.must(0, coord.DeleteTree(f.path(path)))
	}
	return f
}

func (f *fixture) must(session coord.SessionID, ops ...coord.Op) *fixture {
	f.Helper()
	if _, err := f.store.Commit(session, ops...); err != nil {
		f.Fatal(err)
	}
	return f
}

func (f *fixture) path(path string) string { return string(f.job) + "/" + path }

// members registers instances.
func (f *fixture) members(ids ...string) *fixture {
	f.Helper()
	for _, id := range ids {
		f.changes(id, registers(f.pass(id))...)
	}
	return f
}

// The ids of JVM members, on the hosts "host-J@-@1" and so on.
const (
	jvm   = "J@-@1"
	other = "K@-@2"
)

// jvms registers JVM members: they have no session's node.
func (f *fixture) jvms(ids ...string) *fixture {
	f.Helper()
	for _, id := range ids {
		f.create(id, "instances/"+id, fmt.Sprintf("jobInstanceId: %s\nserverIp: host-%s\n", id, id)).put("servers/host-"+id, "")
	}
	return f
}

// begun makes a JVM member run an item: it writes nothing but running.
func (f *fixture) begun(id string, item int) *fixture {
	f.Helper()
	return f.put(fmt.Sprintf("sharding/%d/running", item), id)
}

// holds lets a leader keep JVM members from beginning anything.
func (f *fixture) holds() *fixture {
	f.Helper()
	return f.put("leader/sharding/necessary", jobtree.Holding)
}

// seen lets a process look at a time after tick 1, and remember what it sees of JVM members.
func (f *fixture) seen(after time.Duration) *fixture {
	f.now = tick(1).Add(after)
	f.pass("A")
	return f
}

// leader makes an instance the leader.
func (f *fixture) leader(id string) *fixture {
	f.Helper()
	return f.create(id, "leader/election/instance", id)
}

// deal gives the items 0, 1 … their owners, with nothing to make up.
func (f *fixture) deal(owners ...string) *fixture {
	f.Helper()
	for i, owner := range owners {
		f.own(i, owner)
		f.fired(i, begin)
	}
	return f
}

// own makes an instance the owner of an item.
func (f *fixture) own(item int, owner string) *fixture {
	f.Helper()
	return f.put(fmt.Sprintf("sharding/%d/instance", item), owner)
}

// fired writes the last tick of an item.
func (f *fixture) fired(item int, at time.Time) *fixture {
	f.Helper()
	return f.put(fmt.Sprintf("sharding/%d/fired", item), string(jobtree.EncodeFired(at)))
}

// disable disables the servers of instances.
func (f *fixture) disable(ids ...string) *fixture {
	f.Helper()
	for _, id := range ids {
		f.put("servers/host-"+id, jobtree.Disabled)
	}
	return f
}

// claim makes an item run for a tick, and returns the run as its instance knows it.
func (f *fixture) claim(id string, item int, at time.Time) *decide.Run {
	f.Helper()
	running := coord.CreateEphemeral(f.job.Running(item), []byte(id))
	if f.rules.Failover {
		running = coord.Create(f.job.Running(item), []byte(id))
	}
	revision, err := f.store.Commit(sessionOf(id), running, coord.Put(f.job.Fired(item), jobtree.EncodeFired(at)))
	if err != nil {
		f.Fatal(err)
	}
	return &decide.Run{
		Claim: decide.Claim{Item: item, Source: decide.Normal, Tick: at, Last: at},
		Token: revision, Instance: id, Recorded: true,
	}
}

// takenOver makes an item run as a failover of an instance.
func (f *fixture) takenOver(id string, item int, at time.Time) *decide.Run {
	f.Helper()
	f.create(id, fmt.Sprintf("sharding/%d/failover", item), id)
	f.put(fmt.Sprintf("sharding/%d/failovering", item), id)
	r := f.claim(id, item, at)
	r.Source, r.Failover = decide.Failover, true
	return r
}

// runs lists the runs of the process that decides.
func (f *fixture) runs() []*decide.Run {
	var list []*decide.Run
	for _, r := range f.work.Runs {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b *decide.Run) int { return cmp.Compare(a.Item, b.Item) })
	return list
}

// crash ends the session of an instance, and with it the process.
func (f *fixture) crash(id string) *fixture {
	f.store.Expire(sessionOf(id))
	return f
}

func sessionOf(id string) coord.SessionID { return coord.SessionID(id[0]) }

// pass is what an instance decides on: what it has seen, and what it has under way.
type pass struct {
	*decide.World
	fixture *fixture
	work    *decide.Work
	free    int
}

// momentOf returns the moment at which a clock that is never set shows a time.
func momentOf(t time.Time) clocks.Moment {
	return clocks.Moment{}.Add(t.Sub(tick(0).Add(-24 * time.Hour)))
}

// pass lets an instance look at everything.
func (f *fixture) pass(id string) pass {
	state := jobtree.Read(f.store.Snapshot(), f.job)
	f.mixed = decide.Mix(state, f.mixed, momentOf(f.now))
	return pass{
		World: &decide.World{
			State: state, Mixed: f.mixed, Job: f.job, Rules: f.rules,
			Self: decide.Self{ID: id, IP: "host-" + id, Labels: f.labels, Session: sessionOf(id)},
			Now:  f.now, Moment: momentOf(f.now), Clock: f.clock, Slack: f.slack, Former: f.former,
			Refused: f.refused, Leaving: f.leaving, Absent: f.absent, Leaderless: f.leaderless,
		},
		fixture: f, work: f.work, free: f.free,
	}
}

// owners asks the strategy who should own each item; nil if nobody can.
func (p pass) owners() []string {
	request := p.Question()
	if len(request.Instances) == 0 {
		return nil
	}
	s, err := strategy.Lookup(p.fixture.strategy, nil)
	if err != nil {
		p.fixture.Fatal(err)
	}
	owners := s.Assign(request)
	if err := strategy.Check(request, owners); err != nil {
		p.fixture.Fatal(err)
	}
	return owners
}

// changes is what changes of an instance do to the tree, sorted by path: "+ path = value"
// for what they write, "- path" for what they remove. All of them must succeed. Original nodes
// have tests of their own: TestOriginals.
func (f *fixture) changes(id string, changes ...decide.Change) []string {
	f.Helper()
	before := f.store.Snapshot()
	for _, c := range changes {
		if _, err := f.store.Commit(sessionOf(id), c.Ops...); err != nil {
			f.Fatalf("%s: %v", c.Step, err)
		}
	}
	return f.difference(before, f.store.Snapshot())
}

func (f *fixture) difference(before, after coord.Snapshot) []string {
	var lines []string
	for n := range after.All("") {
		if was, ok := before.Get(n.Path); ok && was.Modified == n.Modified && was.Created == n.Created || strings.HasSuffix(n.Path, "/original") {
			continue
		}
		line := fmt.Sprintf("+ %s = %s", n.Path[len(f.job)+1:], n.Value)
		if n.Owner != 0 {
			line += fmt.Sprintf(" (of %c)", rune(n.Owner))
		}
		lines = append(lines, line)
	}
	for n := range before.All("") {
		if _, ok := after.Get(n.Path); !ok {
			lines = append(lines, "- "+n.Path[len(f.job)+1:])
		}
	}
	slices.SortFunc(lines, func(a, b string) int { return cmp.Compare(a[2:], b[2:]) })
	return lines
}

// row is one row of a step's table: what stands in the tree, and what the step of instance
// A changes there. If want is nil, it wants no commit at all.
type row struct {
	name  string
	rules func(*decide.Rules)
	tree  func(*fixture)
	want  []string
}

// nothing is what a commit changes that has nothing to do.
var nothing = []string{}

// run plays the row. base is the tree that all rows begin with.
func (r row) run(t *testing.T, base func(*fixture), step func(pass) []decide.Change) {
	t.Run(r.name, func(t *testing.T) {
		f := given(t, someOf(r.rules)...)
		base(f)
		if r.tree != nil {
			r.tree(f)
		}
		changes := step(f.pass("A"))
		if r.want == nil && len(changes) > 0 {
			t.Errorf("a commit that need not be: %v", changes[0].Ops)
		}
		got := f.changes("A", changes...)
		if diff := gocmp.Diff(r.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
	})
}

// someOf is a list of what is not nil.
func someOf(change func(*decide.Rules)) []func(*decide.Rules) {
	if change == nil {
		return nil
	}
	return []func(*decide.Rules){change}
}

// conflict is something that happens after instance A has decided and before its commit
// arrives, which must then not be done.
type conflict struct {
	name      string
	meanwhile func(*fixture)
}

func (c conflict) run(t *testing.T, base func(*fixture), step func(pass) []decide.Change) {
	t.Run(c.name, func(t *testing.T) {
		f := given(t)
		base(f)
		changes := step(f.pass("A"))
		if len(changes) != 1 {
			t.Fatalf("%d changes, want 1", len(changes))
		}
		c.meanwhile(f)
		_, err := f.store.Commit(sessionOf("A"), changes[0].Ops...)
		if !errors.Is(err, coord.ErrConflict) && !errors.Is(err, coord.ErrSessionLost) {
			t.Errorf("got %v, want a conflict", err)
		}
	})
}

// one is what a step that returns one change or none wants.
func one(c *decide.Change) []decide.Change {
	if c == nil {
		return nil
	}
	return []decide.Change{*c}
}

// must is one for a step that may fail, and may not here.
func must(c *decide.Change, err error) []decide.Change {
	if err != nil {
		panic(err)
	}
	return one(c)
}

// claimsOf lists what begins with changes.
func claimsOf(changes []decide.Change) []decide.Claim {
	var list []decide.Claim
	for _, c := range changes {
		list = append(list, c.Claims()...)
	}
	return list
}

// parts lists the parts of changes.
func parts(changes []decide.Change) []decide.Part {
	var list []decide.Part
	for _, c := range changes {
		list = append(list, c.Parts...)
	}
	return list
}

// equalClaims reports the difference between claims, in all that they say.
func equalClaims(t testing.TB, what string, got, want []decide.Claim) {
	t.Helper()
	if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s: claims (-want +got):\n%s", what, diff)
	}
}
