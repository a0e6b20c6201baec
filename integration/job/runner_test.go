package job_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobconf"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/property"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// crew is a namespace with runners.
type crew struct {
	*cluster
	all  coord.View                          // of the namespace
	wrap func(coord.Registry) coord.Registry // of the next runner; nil changes nothing
	logs logbook                             // of the last runner
}

// runner is one of them.
type runner struct {
	*job.Runner
	c    *crew
	ip   string
	link link
	end  func() error // ends Run, and returns its error
}

func newCrew(t *testing.T, s store) *crew {
	t.Helper()
	c := newCluster(t, s, "settle")
	view, err := c.admin.View(t.Context(), "", coord.AllLevels)
	c.must(err)
	t.Cleanup(view.Close)
	return &crew{cluster: c, all: view}
}

// inACrew runs a test in virtual time.
func inACrew(t *testing.T, behaviour func(*crew, *memory.Store)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newMemoryStore(t).(memoryStore)
		behaviour(newCrew(t, s), s.Store)
	})
}

// handlers are handlers of these names, whose executions are recorded.
func (c *crew) handlers(names ...string) map[string]job.Handler {
	m := map[string]job.Handler{}
	for _, name := range names {
		m[name] = c.record.handler(nil)
	}
	return m
}

// start starts a runner with an address, which ends with the test.
func (c *crew) start(ip string, cfg job.RunnerConfig) *runner {
	c.Helper()
	reg, link := c.store.dial(c.T, c.namespace, c.timeout)
	logs, logged := newLogbook()
	c.logs = logs
	cfg.Options = append([]job.Option{job.WithIP(ip), logged}, cfg.Options...)
	dialed := reg
	if c.wrap != nil {
		reg = c.wrap(reg)
	}
	r, err := job.NewRunner(reg, cfg)
	c.must(err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	var once error
	isEnded := false
	one := &runner{Runner: r, c: c, ip: ip, link: link, end: func() error {
		if stop(); !isEnded {
			once, isEnded = <-ended, true
		}
		return once
	}}
	c.Cleanup(func() {
		if err := one.end(); err != nil {
			c.Errorf("runner %s: %v", ip, err)
		}
		closeRegistry(c.T, dialed)
	})
	return one
}

// create writes a job into the registry, as an operator does.
func (c *crew) create(name, implementation string, changes ...func(*job.Config)) {
	c.Helper()
	c.commit(c.creation(name, implementation, changes...)...)
}

func (c *crew) creation(name, implementation string, changes ...func(*job.Config)) []coord.Op {
	c.Helper()
	cfg := job.Config{Name: name, Cron: "* * * * * ?", ShardingTotalCount: 1}
	for _, change := range changes {
		change(&cfg)
	}
	document, err := cfg.Encode(nil)
	c.must(err)
	return []coord.Op{coord.Put(name, []byte(implementation)), coord.Put(jobtree.Job(name).Config(), document)}
}

func (c *crew) remove(name string) {
	c.Helper()
	c.commit(coord.DeleteTree(name))
}

func (c *crew) tree(name string) *jobtree.State {
	return jobtree.Read(c.all.Snapshot(), jobtree.Job(name))
}

// sees waits until the namespace is as the test wants it.
func (c *crew) sees(what string, ok func() bool) {
	c.Helper()
	timeout := time.NewTimer(c.patience())
	defer timeout.Stop()
	for {
		changed, recorded := c.all.Changed(), c.record.Changed()
		c.must(c.all.Sync(c.Context()))
		if ok() {
			return
		}
		again := time.NewTimer(time.Second) // what a runner says of itself changes without a node
		select {
		case <-changed:
		case <-recorded:
		case <-again.C:
		case <-timeout.C:
			c.Fatalf("not seen in %v: %s", c.patience(), what)
		}
		again.Stop()
	}
}

// runs waits until a job has begun on an address from now on.
func (c *crew) runs(ip, name string) execution {
	c.Helper()
	from := time.Now()
	var found []execution
	c.sees(fmt.Sprintf("%s runs on %s", name, ip), func() bool {
		found = c.record.find(func(e execution) bool { return e.JobName == name && e.ip == ip && !e.begin.Before(from) })
		return len(found) > 0
	})
	return found[0]
}

// members are the addresses of the instances of a job.
func (c *crew) members(name string) []string {
	var ips []string
	for _, in := range c.tree(name).Instances {
		ips = append(ips, in.IP)
	}
	slices.Sort(ips)
	return ips
}

func (c *crew) has(name string, ips ...string) {
	c.Helper()
	c.sees(fmt.Sprintf("%s has instances on %v", name, ips), func() bool { return slices.Equal(c.members(name), ips) })
}

// refuses waits until a runner refuses exactly these jobs.
func (r *runner) refuses(names ...string) []job.Refusal {
	r.c.Helper()
	var list []job.Refusal
	r.c.sees(fmt.Sprintf("%s refuses %v", r.ip, names), func() bool {
		var got []string
		list = r.Refused()
		for _, f := range list {
			got = append(got, f.Job)
		}
		return slices.Equal(got, names)
	})
	return list
}

// faults are what is told of a job to operators.
func (c *crew) faults(name string) (all []jobtree.FaultRecord) {
	for _, n := range c.tree(name).Faults {
		records, err := jobtree.DecodeFaults(n.Value)
		if err != nil || n.Owner == 0 {
			c.Errorf("%s: owner %d, %v", n.Path, n.Owner, err)
		}
		all = append(all, records...)
	}
	return all
}

// A runner serves the jobs that there are, and that come. It follows changes, lets go of what is
// removed, and leaves nothing when it ends.
func TestRunner(t *testing.T) {
	onEveryStore(t, func(t *testing.T, s store) {
		c := newCrew(t, s)
		c.create("early", "work")
		c.create("java", "org.example.Job")
		r := c.start("10.0.0.1", job.RunnerConfig{Handlers: c.handlers("work", "own")})
		c.runs(r.ip, "early")
		c.create("late", "work")
		c.runs(r.ip, "late")
		c.create("own", "") // as elastic-job 2.1 leaves the job's node
		c.runs(r.ip, "own")
		c.create("manual", "work", func(c *job.Config) { c.Cron = "" })
		c.has("manual", r.ip)
		c.ok(errors.Join(r.Ready(), r.Health()))

		// A change is followed by the scheduler itself.
		c.create("late", "work", func(c *job.Config) { c.ShardingTotalCount = 3 })
		c.sees("three items", func() bool { return len(c.tree("late").Items) == 3 })

		before := r.Job("early")
		c.remove("early")
		c.sees("early is gone", func() bool { return r.Job("early") == nil })
		if err := before.Err(); !errors.Is(err, job.ErrJobRemoved) {
			t.Errorf("early has stopped with %v", err)
		}
		c.remove("late") // and created again at once
		c.create("late", "work", func(c *job.Config) { c.Cron, c.ShardingTotalCount = "", 2 })
		c.sees("the other life is served", func() bool {
			tree := c.tree("late")
			return len(tree.Items) == 2 && len(tree.Instances) == 1 && r.Job("late") != nil && r.Job("late").Status().Registered
		})
		if _, err := r.Job("late").Trigger(t.Context(), job.TriggerRequest{}); err != nil {
			t.Error(err)
		}
		c.runs(r.ip, "late")
		c.create("early", "work")
		c.runs(r.ip, "early")
		if members := c.members("java"); len(members) > 0 {
			t.Errorf("it has joined a job that it does not offer: %v", members)
		}
		c.sees("four jobs", func() bool { return len(r.Jobs()) == 4 }) // an item may run a moment before its start has returned
		c.ok(errors.Join(r.Ready(), r.Health()))
		c.ok(r.end())
		c.must(c.all.Sync(t.Context()))
		for n := range c.all.Snapshot().All("") {
			if n.Owner != 0 {
				t.Errorf("%s is left", n.Path)
			}
		}
		if err := r.Run(t.Context()); err == nil {
			t.Error("it runs twice")
		}
	})
}

// A job that is configured wrongly is a fault of that job alone. It is tried again at once when
// it is changed.
func TestRunnerWithAWrongJob(t *testing.T) {
	onTheSimulator(t, func(t *testing.T, s store) {
		c := newCrew(t, s)
		c.create("right", "work")
		c.create("wrong", "work", func(c *job.Config) { c.Strategy = "by dice" })
		c.create("torn", "work")
		c.commit(coord.Set(jobtree.Job("torn").Config(), []byte("{")))
		r := c.start("10.0.0.1", job.RunnerConfig{Handlers: c.handlers("work")})
		c.runs(r.ip, "right")
		for _, f := range r.refuses("torn", "wrong") {
			if f.Kind != jobtype.FaultConfig || f.Since.IsZero() {
				t.Errorf("%+v", f)
			}
		}
		c.sees("operators see both", func() bool { return len(c.faults("torn")) == 1 && len(c.faults("wrong")) == 1 })
		if f := c.faults("wrong")[0]; f.Kind != "configuration" || !strings.Contains(f.Cause, "by dice") {
			t.Errorf("%+v", f)
		}
		if err := r.Ready(); err != nil {
			t.Errorf("ready: %v", err)
		}
		fault, isFault := errors.AsType[job.Fault](r.Health())
		if !isFault || fault.Kind != jobtype.FaultConfig || !strings.Contains(r.Health().Error(), "2 of 3 jobs are at fault; job torn: ") {
			t.Errorf("health: %v", r.Health())
		}
		c.create("wrong", "work")
		c.runs(r.ip, "wrong")
		c.remove("torn")
		r.refuses()
		c.sees("operators see nothing", func() bool { return len(c.faults("wrong"))+len(c.faults("torn")) == 0 })
		c.ok(r.Health())
		if n := len(c.logs.says("the runner cannot serve a job; it tries again")); n != 2 {
			t.Errorf("%d lines say that it cannot", n)
		}
		if n := len(c.logs.says("what kept the runner from serving a job is over")); n != 2 {
			t.Errorf("%d lines say that it is over", n)
		}
	})
}

// An instance that an operator removes stays away until the job is created anew. So does a
// scheduler that the program shuts down.
func TestRunnerWhoseInstanceIsRemoved(t *testing.T) {
	for name, end := range map[string]func(*crew, *runner){
		"by an operator": func(c *crew, r *runner) {
			c.commit(coord.Delete(jobtree.Job("settle").Instance(r.Job("settle").Status().InstanceID)))
		},
		"by the program": func(c *crew, r *runner) {
			c.ok(r.Job("settle").Shutdown(c.Context()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			inACrew(t, func(c *crew, _ *memory.Store) {
				c.create("settle", "work")
				r := c.start("10.0.0.1", job.RunnerConfig{Handlers: c.handlers("work")})
				c.runs(r.ip, "settle")
				end(c, r)
				c.sees("it has ended", func() bool { return r.Job("settle") == nil })
				says := func() int {
					return len(c.logs.says("a scheduler was shut down; it comes back when this process is started again"))
				}
				c.sees("it says how it comes back", func() bool { return says() == 1 })
				c.create("settle", "work", func(c *job.Config) { c.ShardingTotalCount = 2 })
				c.create("settle", "other")
				c.pass(time.Hour)
				c.create("settle", "work")
				c.pass(time.Hour)
				if members := c.members("settle"); len(members) > 0 || r.Job("settle") != nil {
					c.Errorf("it has joined again: %v", members)
				}
				c.ok(errors.Join(r.Ready(), r.Health()))
				if n := says(); n != 1 {
					c.Errorf("%d lines say how it comes back: %q", n, c.logs.messages())
				}
				c.remove("settle")
				c.create("settle", "work")
				c.runs(r.ip, "settle")
			})
		})
	}
}

// Runners share jobs that both offer; others stay with those that have their type.
func TestRunnersWithDifferentTypes(t *testing.T) {
	inACrew(t, func(c *crew, _ *memory.Store) {
		both := func(name string) job.RunnerConfig {
			record := job.TypeFunc(func(job.Config) (job.Handler, error) { return c.record.handler(nil), nil })
			handlers := c.handlers("both")
			handlers[name] = job.OfType(name, record)
			return job.RunnerConfig{Handlers: handlers}
		}
		one := c.start("10.0.0.1", both("SCRIPT"))
		two := c.start("10.0.0.2", both("HTTP"))
		c.create("script", "SCRIPT")
		c.create("http", "HTTP")
		c.create("shared", "both", func(c *job.Config) { c.ShardingTotalCount = 2 })
		c.commit(coord.Put("old", nil), coord.Put("old/config", []byte(`{"jobName":"old","jobType":"SCRIPT","cron":"* * * * * ?","shardingTotalCount":1,"scriptCommandLine":"true"}`)))
		for _, name := range []string{"~elasticjob", "~other", "no name"} {
			c.commit(coord.Put(name, []byte("both")), coord.Put(name+"/config", c.creation("right", "")[1].Value))
		}
		c.runs(one.ip, "script")
		c.runs(one.ip, "old")
		c.runs(two.ip, "http")
		c.runs(one.ip, "shared")
		c.runs(two.ip, "shared")
		c.has("script", one.ip)
		c.has("old", one.ip)
		c.has("http", two.ip)
		c.has("shared", one.ip, two.ip)
		if len(one.Jobs()) != 3 || len(two.Jobs()) != 2 || len(one.Refused())+len(two.Refused()) > 0 {
			c.Errorf("%d and %d jobs, refused %v, %v", len(one.Jobs()), len(two.Jobs()), one.Refused(), two.Refused())
		}
	})
}

// A runner that ends while its jobs start leaves nothing of them, and finds no fault in that.
func TestRunnerThatEndsWhileJobsStart(t *testing.T) {
	inACrew(t, func(c *crew, s *memory.Store) {
		for i := range 100 {
			c.create(fmt.Sprintf("job-%d", i), "work")
		}
		slow := s.Inject(memory.Fault{Method: memory.Commit, Delay: time.Second})
		defer slow.Remove()
		r := c.start("10.0.0.1", job.RunnerConfig{Handlers: c.handlers("work")})
		c.pass(2500 * time.Millisecond)
		if err := r.Ready(); err == nil || !strings.Contains(err.Error(), "of 100 jobs are not tried yet") {
			c.Errorf("ready: %v", err)
		}
		c.ok(r.end())
		for n := range c.all.Snapshot().All("") {
			if n.Owner != 0 {
				c.Errorf("%s is left", n.Path)
			}
		}
		if lines := c.logs.FilterLevelExact(zap.ErrorLevel).All(); len(lines) > 0 || len(r.Refused()) > 0 {
			c.Errorf("%d lines of errors, the first is %v; refused %v", len(lines), lines[0], r.Refused())
		}
	})
}

// The process shows what it offers, also while it runs no job, in each session anew.
func TestRunnerShowsItself(t *testing.T) {
	inACrew(t, func(c *crew, s *memory.Store) {
		f := &fleet{T: c.T, view: c.all}
		table := property.Table{Rows: []property.Row{{Name: "mill.stones", Default: "2", Check: property.Integer(1, 9), Meaning: strings.Repeat("x", 300)}, {Name: "mill.key", Required: true, Secret: true}}}
		script := table.Type(job.TypeFunc(func(job.Config) (job.Handler, error) { return c.record.handler(nil), nil }))
		handlers := c.handlers("work", "A")
		handlers["SCRIPT"] = job.OfType("SCRIPT", script)
		r := c.start("10.0.0.1", job.RunnerConfig{
			NodeConfig: job.NodeConfig{Options: []job.Option{job.WithLabels("gpu", "big")}},
			Handlers:   handlers,
		})
		want := jobtree.NodeDocument{Address: r.ip, Offers: []string{"A", "SCRIPT", "work"}, Labels: []string{"gpu", "big"}, Described: []jobconf.Property{
			{Type: "SCRIPT", Name: "mill.stones", Default: "2", Allowed: "1 to 9", Meaning: strings.Repeat("x", 200) + "…"}, {Type: "SCRIPT", Name: "mill.key", Required: true, Secret: true},
		}}
		shows := func(items int) {
			c.Helper()
			want.Items = items
			c.sees(fmt.Sprintf("it shows %+v", want), func() bool {
				got, all := f.sign(r.ip)
				return all == 1 && reflect.DeepEqual(got, want)
			})
		}
		shows(0)
		c.create("settle", "work", func(c *job.Config) { c.ShardingTotalCount = 3 })
		shows(3)
		for n := range c.all.Snapshot().All(jobtree.Nodes) {
			if n.Owner != 0 {
				s.Expire(n.Owner)
			}
		}
		c.sees("the sign has gone", func() bool { _, all := f.sign(r.ip); return all == 0 })
		shows(3)
		c.remove("settle")
		shows(0)
		// A type that the program starts itself is described, too.
		_, err := r.Schedule(c.Context(), job.Config{Name: "own", ShardingTotalCount: 1, Props: map[string]string{"mill.key": "${env:KEY}"}}, job.OfType("OWN", script))
		c.ok(err)
		for _, p := range want.Described[:2] {
			p.Type = "OWN"
			want.Described = append(want.Described, p)
		}
		shows(1)
		c.ok(r.end())
		c.sees("the sign has gone", func() bool { _, all := f.sign(r.ip); return all == 0 })
	})
}

// A runner waits for a store that is away, and follows it again when it is back. What it could
// not start meanwhile is started, and its faults are told anew in another session.
func TestRunnerWhoseStoreIsAway(t *testing.T) {
	inACrew(t, func(c *crew, s *memory.Store) {
		c.create("settle", "work")
		c.create("wrong", "work", func(c *job.Config) { c.Strategy = "by dice" })
		away := s.Inject(memory.Fault{Method: memory.OpenView, Before: coord.ErrUnavailable})
		r := c.start("10.0.0.1", job.RunnerConfig{Handlers: c.handlers("work")})
		c.pass(time.Minute)
		if err := r.Ready(); err == nil || !strings.Contains(err.Error(), "the namespace is not read yet") || !errors.Is(err, coord.ErrUnavailable) {
			c.Errorf("ready: %v", err)
		}
		away.Remove()
		c.runs(r.ip, "settle")
		if err := r.Ready(); err != nil {
			c.Errorf("ready: %v", err)
		}
		c.sees("operators see it", func() bool { return len(c.faults("wrong")) == 1 })
		r.link.BlackHole()
		c.pass(time.Minute)
		if err := r.Ready(); err != nil {
			c.Logf("ready while the store is away: %v", err)
		}
		if err := r.Health(); !errors.Is(err, coord.ErrUnavailable) {
			c.Errorf("health while the store is away: %v", err)
		}
		if len(c.faults("wrong")) > 0 || r.Job("settle") == nil {
			c.Errorf("%v, %v", c.faults("wrong"), r.Job("settle"))
		}
		c.create("new", "work")
		c.remove("settle")
		r.link.Heal()
		c.runs(r.ip, "new")
		c.sees("operators see it again", func() bool { return len(c.faults("wrong")) == 1 })
		c.sees("settle is gone", func() bool { return r.Job("settle") == nil })
		r.refuses("wrong")
	})
}

// A job that the program starts itself on the runner is the program's, while it runs.
func TestRunnerLeavesJobsOfTheProgramAlone(t *testing.T) {
	inACrew(t, func(c *crew, _ *memory.Store) {
		r := c.start("10.0.0.1", job.RunnerConfig{Handlers: c.handlers("settle")})
		cfg := job.Config{Name: "settle", Cron: "* * * * * ?", ShardingTotalCount: 1}
		var ran atomic.Int32
		s, err := r.Schedule(c.Context(), cfg, job.HandlerFunc(func(context.Context, job.ShardingContext) error { ran.Add(1); return nil }))
		c.must(err)
		c.pass(10 * time.Minute)
		if ran.Load() < 500 || r.Job("settle") != s || s.Err() != nil || len(r.Refused()) > 0 {
			c.Errorf("%d runs, %v, %v", ran.Load(), s.Err(), r.Refused())
		}
		c.ok(s.Shutdown(c.Context()))
		c.pass(time.Minute)
		if s, err = r.Schedule(c.Context(), cfg, job.HandlerFunc(untilDone)); err != nil {
			c.Fatal(err)
		}
		c.remove("settle")
		<-s.Done()
		c.create("settle", "")
		c.runs(r.ip, "settle")
		if _, err = r.Schedule(c.Context(), cfg, job.HandlerFunc(untilDone)); !errors.Is(err, job.ErrJobTwice) {
			c.Errorf("while the runner runs it: %v", err)
		}
	})
}

// A scheduler that cannot go on is started again, and others do not notice.
func TestRunnerWhoseSchedulerStops(t *testing.T) {
	inACrew(t, func(c *crew, _ *memory.Store) {
		bad := &fragile{job: "bad"}
		c.wrap = func(reg coord.Registry) coord.Registry { bad.Registry = reg; return bad }
		c.create("bad", "work", func(c *job.Config) { c.Cron = "0 * * * * ?" })
		c.create("good", "work")
		r := c.start("10.0.0.1", job.RunnerConfig{Handlers: c.handlers("work")})
		c.has("bad", r.ip)
		c.runs(r.ip, "good")
		good := r.Job("good")
		bad.breakView(coord.ErrUnavailable)
		if list := r.refuses("bad"); list[0].Kind != jobtype.FaultStore || r.Live() != nil || r.Ready() != nil || r.Health() == nil {
			c.Errorf("%+v; live %v, ready %v, health %v", list, r.Live(), r.Ready(), r.Health())
		}
		if faults := maps.Collect(r.Faults()); faults["bad"] == nil || len(faults) != 1 {
			c.Errorf("faults %v", faults)
		}
		c.runs(r.ip, "bad")
		r.refuses()
		c.sees("operators see nothing", func() bool { return len(c.faults("bad")) == 0 })
		if r.Job("good") != good || r.Health() != nil {
			c.Error(r.Health())
		}
	})
}

// Without its registry a runner ends, and says why. So does one that may not read the namespace.
func TestRunnerWithoutARegistry(t *testing.T) {
	inACrew(t, func(c *crew, s *memory.Store) {
		run := func(prepare func(coord.Registry)) error {
			reg, _ := c.store.dial(c.T, c.namespace, c.timeout)
			defer closeRegistry(c.T, reg)
			r, err := job.NewRunner(reg, job.RunnerConfig{Handlers: c.handlers("work")})
			c.must(err)
			ended := make(chan error)
			go func() { ended <- r.Run(context.Background()) }()
			prepare(reg)
			return <-ended
		}
		c.create("settle", "work")
		if err := run(func(reg coord.Registry) { c.has("settle", c.members("settle")...); closeRegistry(c.T, reg) }); !errors.Is(err, coord.ErrClosed) {
			c.Errorf("a closed registry: %v", err)
		}
		denied := s.Inject(memory.Fault{Method: memory.OpenView, Path: "", Before: coord.ErrDenied})
		defer denied.Remove()
		if err := run(func(coord.Registry) {}); !errors.Is(err, coord.ErrDenied) || !strings.Contains(err.Error(), "view of the namespace") {
			c.Errorf("a namespace that may not be read: %v", err)
		}
	})
}

func TestRunnerConfigIsChecked(t *testing.T) {
	onNode(t, job.NodeConfig{}, func(h host) {
		work := job.HandlerFunc(untilDone)
		typed := job.OfType("SCRIPT", job.TypeFunc(func(job.Config) (job.Handler, error) { return work, nil }))
		for says, c := range map[string]job.RunnerConfig{
			"offers nothing":          {},
			"name: is empty":          {Handlers: map[string]job.Handler{"": work}},
			`"a" is nil`:              {Handlers: map[string]job.Handler{"a": job.HandlerFunc(nil)}},
			"at most 1000":            {Handlers: map[string]job.Handler{strings.Repeat("a", 1001): work}},
			"its own name is allowed": {Handlers: map[string]job.Handler{"a": typed}},
			"WithImplementation":      {Handlers: map[string]job.Handler{"a": work}, NodeConfig: job.NodeConfig{Options: []job.Option{job.WithImplementation("b")}}},
			"type \"SCRIPT\" is nil":  {Handlers: map[string]job.Handler{"SCRIPT": job.OfType("SCRIPT", job.TypeFunc(nil))}},
			"threads":                 {Handlers: map[string]job.Handler{"a": work}, NodeConfig: job.NodeConfig{Threads: -1}},
		} {
			if _, err := job.NewRunner(h.reg, c); err == nil || !strings.Contains(err.Error(), says) {
				h.Errorf("%s: got %v", says, err)
			}
		}
		r, err := job.NewRunner(h.reg, job.RunnerConfig{Handlers: map[string]job.Handler{"a": work}})
		h.must(err)
		if err := r.Ready(); err == nil || !strings.Contains(err.Error(), "Run was not called") {
			h.Errorf("ready: %v", err)
		}
	})
}
