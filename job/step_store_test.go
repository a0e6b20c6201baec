package job

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// stepStore is as much of a store as the steps can tell: ops apply together if their
// conditions hold, versions start again when a node is created again, as ZooKeeper's
// do, and revisions only grow.
type stepStore struct {
	tree     *coord.Tree
	revision int64
	over     map[coord.SessionID]bool // the sessions that have ended
	// written is called for each node that a commit wrote or removed.
	written func(before, after *coord.Node)
}

func newStepStore() *stepStore {
	return &stepStore{tree: coord.NewTree(), revision: 1000, over: map[coord.SessionID]bool{}}
}

func (s *stepStore) commit(session coord.SessionID, ops ...coord.Op) (int64, error) {
	if err := coord.ValidateCommit(ops...); err != nil {
		return 0, err
	}
	before := s.tree.Snapshot()
	for i, op := range ops {
		if s.over[session] && (op.Kind == coord.OpCreateEphemeral || op.Kind == coord.OpOwned) {
			return 0, coord.ErrSessionLost
		}
		if reason := check(before, session, op); reason != nil {
			return 0, &coord.ConflictError{Index: i, Op: op, Reason: reason}
		}
	}
	revision := s.revision + 1
	wrote := false
	for _, op := range ops {
		switch op.Kind {
		case coord.OpCreate, coord.OpCreateEphemeral, coord.OpPut, coord.OpSet, coord.OpSetAt:
			wrote = true
			n, exists := s.tree.Get(op.Path)
			if exists {
				n.Version++
			} else {
				n = coord.Node{Path: op.Path, Created: revision}
			}
			if op.Kind == coord.OpCreateEphemeral {
				n.Owner = session
			}
			n.Value, n.Modified = bytes.Clone(op.Value), revision
			s.put(n)
		case coord.OpDelete, coord.OpDeleteTree:
			for n := range before.All(op.Path) {
				s.remove(n)
			}
		}
	}
	s.revision = revision
	if !wrote {
		return 0, nil
	}
	return revision, nil
}

func check(tree coord.Snapshot, session coord.SessionID, op coord.Op) error {
	n, there := tree.Get(op.Path)
	switch op.Kind {
	case coord.OpPut, coord.OpDeleteTree:
		return nil
	case coord.OpCreate, coord.OpCreateEphemeral, coord.OpAbsent:
		if there {
			return coord.ErrNodeExists
		}
		return nil
	}
	switch {
	case !there:
		return coord.ErrNoNode
	case (op.Kind == coord.OpSetAt || op.Kind == coord.OpAtVersion) && n.Version != op.Version:
		return coord.ErrVersion
	case op.Kind == coord.OpOwned && n.Owner != session:
		return coord.ErrNotOwner
	case op.Kind == coord.OpDelete && len(tree.Children(op.Path)) > 0:
		return coord.ErrNotEmpty
	}
	return nil
}

func (s *stepStore) put(n coord.Node) {
	before, exists := s.tree.Get(n.Path)
	s.tree.Put(n)
	if s.written == nil {
		return
	}
	if exists {
		s.written(&before, &n)
	} else {
		s.written(nil, &n)
	}
}

func (s *stepStore) remove(n coord.Node) {
	if s.tree.Delete(n.Path) && s.written != nil {
		s.written(&n, nil)
	}
}

// expire ends a session: its ephemeral nodes go in one step.
func (s *stepStore) expire(session coord.SessionID) {
	s.revision++
	s.over[session] = true
	for n := range s.tree.Snapshot().All("") {
		if n.Owner == session {
			s.remove(n)
		}
	}
}

// fixture is a tree of one job, put together by hand, in which the instances "A",
// "B" … have the sessions 'A', 'B' … and stand on the hosts "host-A" and so on.
type fixture struct {
	testing.TB
	store *stepStore
	job   jobtree.Job
	now   time.Time

	// What the process that decides knows by itself.
	runs    map[int]*run
	ended   map[int]int64
	free    int
	waiting map[int]time.Time
	begun   map[int]time.Time
	clock   coord.Clock
	refused int64
	leaving bool
	gone    map[string]time.Time
	labels  []string

	settings *settings // of the configuration that is in the tree
}

// stepStart is when the schedule of a fixture came into force. Its ticks are five
// seconds apart, and the first one comes after five.
var stepStart = time.Date(2026, time.January, 5, 10, 0, 0, 0, time.UTC)

// tick is the nth tick of a fixture; the 0th is not due to anybody.
func tick(n int) time.Time { return stepStart.Add(time.Duration(n) * 5 * time.Second) }

// given starts a tree: a job with three items at five-second ticks, failover and
// misfire on, changed as the test likes; nobody is registered.
func given(t testing.TB, changes ...func(*Config)) *fixture {
	t.Helper()
	f := &fixture{
		TB: t, store: newStepStore(), job: "settle", now: tick(1).Add(100 * time.Millisecond),
		runs: map[int]*run{}, ended: map[int]int64{}, free: 1000, gone: map[string]time.Time{},
	}
	f.configure(append([]func(*Config){func(c *Config) {
		*c = Config{Name: "settle", Cron: "0/5 * * * * ?", TimeZone: "UTC", ShardingTotalCount: 3, Failover: true}
	}}, changes...)...)
	return f
}

// configure changes the configuration, and the schedule in force with it.
func (f *fixture) configure(changes ...func(*Config)) {
	f.Helper()
	f.reconfigure(changes...)
	document, err := jobtree.EncodeSchedule(jobtree.ScheduleDocument{
		Cron: f.settings.Cron, TimeZone: f.settings.TimeZone, Misfire: f.settings.misfire, Since: stepStart,
	})
	if err != nil {
		f.Fatal(err)
	}
	f.put("schedule", string(document))
}

// reconfigure changes the configuration only.
func (f *fixture) reconfigure(changes ...func(*Config)) {
	f.Helper()
	var c Config
	if f.settings != nil {
		c = f.settings.Config
	}
	for _, change := range changes {
		change(&c)
	}
	document, err := c.Encode(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.put("config", string(document))
	o, err := newOptions(nil)
	if err != nil {
		f.Fatal(err)
	}
	if f.settings, err = newSettings(c, o, f.store.revision); err != nil {
		f.Fatal(err)
	}
}

// put writes a persistent node below the job.
func (f *fixture) put(path, value string) *fixture {
	f.Helper()
	return f.must(0, coord.Put(f.path(path), []byte(value)))
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
	if _, err := f.store.commit(session, ops...); err != nil {
		f.Fatal(err)
	}
	return f
}

func (f *fixture) path(path string) string { return string(f.job) + "/" + path }

// members registers instances.
func (f *fixture) members(ids ...string) *fixture {
	f.Helper()
	for _, id := range ids {
		w := f.world(id)
		commit, err := w.register()
		if err != nil {
			f.Fatal(err)
		}
		f.must(w.self.session, commit.ops...)
	}
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
		f.put(fmt.Sprintf("sharding/%d/fired", i), string(jobtree.EncodeFired(stepStart)))
	}
	return f
}

// own makes an instance the owner of an item.
func (f *fixture) own(item int, owner string) {
	f.Helper()
	f.put(fmt.Sprintf("sharding/%d/instance", item), owner)
}

// claim makes an item run for a tick, and returns the run as its instance knows it.
func (f *fixture) claim(id string, item int, at time.Time) *run {
	f.Helper()
	session := sessionOf(id)
	running := coord.CreateEphemeral(f.job.Running(item), []byte(id))
	if f.settings.Failover {
		running = coord.Create(f.job.Running(item), []byte(id))
	}
	revision, err := f.store.commit(session, running, coord.Put(f.job.Fired(item), jobtree.EncodeFired(at)))
	if err != nil {
		f.Fatal(err)
	}
	return &run{
		item: item, tick: at, last: at, source: SourceNormal, token: revision, instance: id, phase: executing,
		group: &group{open: 1}, cancel: func(error) {},
	}
}

// takenOver makes an item run as a failover of an instance.
func (f *fixture) takenOver(id string, item int, at time.Time) *run {
	f.Helper()
	f.create(id, fmt.Sprintf("sharding/%d/failover", item), id)
	f.put(fmt.Sprintf("sharding/%d/failovering", item), id)
	r := f.claim(id, item, at)
	r.source, r.failover = SourceFailover, true
	return r
}

// returned is a run whose handler has returned.
func returned(r *run, err error) *run {
	r.phase, r.err, r.group.open = done, err, 0
	return r
}

// crash ends the session of an instance, and with it the process.
func (f *fixture) crash(id string) *fixture {
	f.store.expire(sessionOf(id))
	return f
}

func sessionOf(id string) coord.SessionID { return coord.SessionID(id[0]) }

// world is what an instance decides on when it has seen everything.
func (f *fixture) world(id string) *world {
	return &world{
		State: jobtree.Read(f.store.tree.Snapshot(), f.job), job: f.job, settings: f.settings,
		self: self{id: id, ip: "host-" + id, labels: f.labels, session: sessionOf(id)},
		now:  f.now, runs: f.runs, ended: f.ended, free: f.free, leaving: f.leaving, gone: f.gone,
		waiting: f.waiting, begun: f.begun, clock: f.clock, refused: f.refused, leaderless: time.Hour,
		ask: func(r strategy.Request) ([]string, error) { return f.settings.strategy.Assign(r), nil },
	}
}

// changes are what commits of an instance change in the tree, sorted by path: "+ path
// = value" for what they write, "- path" for what they remove. All of them must succeed.
func (f *fixture) changes(id string, commits ...commit) []string {
	f.Helper()
	before := f.store.tree.Snapshot()
	for _, c := range commits {
		if _, err := f.store.commit(sessionOf(id), c.ops...); err != nil {
			f.Fatalf("%s: %v", c.step, err)
		}
	}
	return f.difference(before, f.store.tree.Snapshot())
}

func (f *fixture) difference(before, after coord.Snapshot) []string {
	var lines []string
	for n := range after.All("") {
		if was, ok := before.Get(n.Path); ok && was.Modified == n.Modified && was.Created == n.Created {
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
	slices.SortFunc(lines, func(a, b string) int {
		return bytes.Compare([]byte(a[2:]), []byte(b[2:]))
	})
	return lines
}

// stepCase is one row of a step's table: what stands in the tree, and what the step
// of instance A changes there.
type stepCase struct {
	name   string
	config func(*Config)
	tree   func(*fixture)
	want   []string
}

// run plays the row: base is the tree that all rows begin with.
func (c stepCase) run(t *testing.T, base func(*fixture), step func(*world) []commit) {
	t.Run(c.name, func(t *testing.T) {
		var configs []func(*Config)
		if c.config != nil {
			configs = append(configs, c.config)
		}
		f := given(t, configs...)
		base(f)
		if c.tree != nil {
			c.tree(f)
		}
		got := f.changes("A", step(f.world("A"))...)
		if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
	})
}

// conflictCase is something that happens after instance A has decided and before its
// commit arrives, which must then not be done.
type conflictCase struct {
	name      string
	meanwhile func(*fixture)
}

func (c conflictCase) run(t *testing.T, base func(*fixture), step func(*world) []commit) {
	t.Run(c.name, func(t *testing.T) {
		f := given(t)
		base(f)
		commits := step(f.world("A"))
		if len(commits) != 1 {
			t.Fatalf("%d commits, want 1", len(commits))
		}
		c.meanwhile(f)
		_, err := f.store.commit(sessionOf("A"), commits[0].ops...)
		if !errors.Is(err, coord.ErrConflict) && !errors.Is(err, coord.ErrSessionLost) {
			t.Errorf("got %v, want a conflict", err)
		}
	})
}

// one is what a step that returns one commit or none wants.
func one(c *commit) []commit {
	if c == nil {
		return nil
	}
	return []commit{*c}
}
