package doctor_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops/doctor"
)

// fixture is a namespace with one job, whose tree is that of two instances in good health. Nothing
// runs: what a test plants stays as it is. It is half a minute after the last tick.
type fixture struct {
	*testing.T
	store  *memory.Store
	reg    *memory.Registry   // the doctor's
	hosts  []*memory.Registry // of the two instances
	ids    []string           // of them
	job    jobtree.Job
	cfg    job.Config
	config int64 // Modified of the configuration
	// denyAll is whether nobody may walk the whole namespace.
	denyAll atomic.Bool
	rewrite func() // the node of a Runner
	// tells is what the store tells of itself; nil is nothing.
	tells   *coord.StoreFacts
	options doctor.Options
}

const minutely = "0 * * * * ?"

// inGoodHealth runs a test on a fixture, in virtual time.
func inGoodHealth(t *testing.T, test func(*fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{T: t, store: memory.NewStore(memory.Options{}), job: "settle"}
		t.Cleanup(f.store.Close)
		f.reg = f.dial()
		f.cfg = job.Config{Name: "settle", Cron: minutely, TimeZone: "GMT", ShardingTotalCount: 3, Failover: true}
		time.Sleep(time.Hour)
		f.commit(coord.Put("settle", []byte("settle")))
		f.configure(func(*job.Config) {})
		for n := range 2 {
			f.hosts = append(f.hosts, f.dial())
			f.ids = append(f.ids, jobtree.InstanceID(f.ip(n), 1, "r"+strconv.Itoa(n)))
			f.join(n, jobtree.SessionDocument{Protocol: jobtree.Protocol, Accepted: f.config})
			f.commit(coord.Put(f.job.Server(f.ip(n)), []byte(jobtree.Enabled)))
		}
		f.commitBy(0, coord.CreateEphemeral(f.job.LeaderInstance(), []byte(f.ids[0])))
		f.inForce(func(*jobtree.ScheduleDocument) {})
		for i := range 3 {
			f.commit(coord.Put(f.job.ItemInstance(i), []byte(f.ids[i%2])), coord.Put(f.job.Fired(i), jobtree.EncodeFired(time.Now())))
		}
		time.Sleep(30 * time.Second)
		test(f)
	})
}

func (f *fixture) ip(n int) string { return fmt.Sprintf("10.0.0.%d", n+1) }

func (f *fixture) dial() *memory.Registry {
	f.Helper()
	reg, err := f.store.Dial(f.Context(), memory.Config{Namespace: "test"})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := reg.Close(context.Background()); err != nil {
			f.Errorf("close: %v", err)
		}
	})
	return reg
}

func (f *fixture) commit(ops ...coord.Op) {
	f.Helper()
	if _, err := f.reg.Commit(f.Context(), ops...); err != nil {
		f.Fatal(err)
	}
}

// commitBy commits as an instance.
func (f *fixture) commitBy(n int, ops ...coord.Op) {
	f.Helper()
	if _, err := f.hosts[n].Commit(f.Context(), ops...); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) get(path string) coord.Node {
	f.Helper()
	n, err := f.reg.Get(f.Context(), path)
	if err != nil {
		f.Fatal(err)
	}
	return n
}

// join writes the nodes of an instance.
func (f *fixture) join(n int, d jobtree.SessionDocument, labels ...string) {
	f.Helper()
	document := jobtree.EncodeInstance(f.ids[n], f.ip(n), labels)
	f.commitBy(n, coord.DeleteTree(f.job.Instance(f.ids[n])), coord.DeleteTree(f.job.Session(f.ids[n])))
	f.commitBy(n, coord.CreateEphemeral(f.job.Instance(f.ids[n]), document), coord.CreateEphemeral(f.job.Session(f.ids[n]), jobtree.EncodeSession(d)))
}

// says makes an instance say something else of itself.
func (f *fixture) says(n int, change func(*jobtree.SessionDocument)) {
	f.Helper()
	d := jobtree.SessionDocument{Protocol: jobtree.Protocol, Accepted: f.config}
	change(&d)
	f.commitBy(n, coord.Put(f.job.Session(f.ids[n]), jobtree.EncodeSession(d)))
}

// dies ends an instance.
func (f *fixture) dies(n int) {
	f.Helper()
	if err := f.hosts[n].Close(f.Context()); err != nil {
		f.Fatal(err)
	}
}

// isJVM makes an instance a JVM member.
func (f *fixture) isJVM(n int) { f.commit(coord.DeleteTree(f.job.Session(f.ids[n]))) }

// configure writes the configuration, which all instances follow.
func (f *fixture) configure(change func(*job.Config)) {
	f.Helper()
	change(&f.cfg)
	document, err := f.cfg.Encode(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.commit(coord.Put(f.job.Config(), document))
	f.config = f.get(f.job.Config()).Modified
	for n := range f.hosts {
		f.says(n, func(*jobtree.SessionDocument) {})
	}
	if len(f.hosts) > 0 {
		f.inForce(func(*jobtree.ScheduleDocument) {})
	}
}

// inForce records the schedule of the configuration.
func (f *fixture) inForce(change func(*jobtree.ScheduleDocument)) {
	f.Helper()
	d := jobtree.ScheduleDocument{Cron: f.cfg.Cron, TimeZone: f.cfg.TimeZone, Misfire: f.cfg.Misfire != job.Off, Since: time.Now().Add(-30 * time.Minute), ExpiresAt: f.cfg.Expiry.At, ExpiryTicks: f.cfg.Expiry.Ticks, Until: f.cfg.Expiry.At}
	change(&d)
	document, err := jobtree.EncodeSchedule(d)
	if err != nil {
		f.Fatal(err)
	}
	f.commit(coord.Put(f.job.Schedule(), document))
}

// runs makes an instance run an item for a tick.
func (f *fixture) runs(n, item int, tick time.Time) {
	f.commit(coord.Put(f.job.Running(item), []byte(f.ids[n])), coord.Put(f.job.Fired(item), jobtree.EncodeFired(tick)))
}

// examine examines the whole namespace.
func (f *fixture) examine() doctor.Report {
	f.Helper()
	var reg coord.Registry = guarded{f.reg, &f.denyAll}
	if f.tells != nil {
		reg = telling{Registry: reg, facts: *f.tells}
	}
	report, err := doctor.Examine(f.Context(), reg, f.options)
	if err != nil {
		f.Fatal(err)
	}
	return report
}

// effect names a kind of which there is no finding, but an effect.
func effect(k doctor.Kind) doctor.Kind { return "effect " + k }

// finds expects the kinds of all findings and effects, in any order.
func (f *fixture) finds(want ...doctor.Kind) doctor.Report {
	f.Helper()
	report := f.examine()
	var got []doctor.Kind
	for _, found := range report.Findings {
		got = append(got, found.Kind)
		for _, e := range found.Effects {
			got = append(got, effect(e.Kind))
		}
		f.complete(found)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		f.Errorf("found %q, want %q:", got, want)
		for _, found := range report.Findings {
			f.Log(found)
		}
	}
	return report
}

// complete expects a finding to say all that each has to say, and no more than its kind and those of its effects may.
func (f *fixture) complete(found doctor.Finding) {
	f.Helper()
	worst := f.worst(found.Kind)
	for _, e := range found.Effects {
		worst = max(worst, f.worst(e.Kind))
		if e.Severity < doctor.Info || e.Severity > f.worst(e.Kind) || e.Severity > found.Severity || e.Cause == "" {
			f.Errorf("%+v", e)
		}
	}
	if found.Severity < doctor.Info || found.Severity > worst || found.Cause == "" || found.Advice == "" {
		f.Errorf("%+v", found)
	}
}

func (f *fixture) worst(kind doctor.Kind) doctor.Severity {
	f.Helper()
	at := slices.IndexFunc(doctor.Kinds(), func(k doctor.About) bool { return k.Kind == kind })
	if at < 0 {
		f.Fatalf("the table has no %s", kind)
	}
	return doctor.Kinds()[at].Worst
}

// guarded is a registry that may not be allowed to walk all of its namespace.
type guarded struct {
	coord.Registry
	denies *atomic.Bool
}

func (g guarded) Walk(ctx context.Context, path string) iter.Seq2[coord.Node, error] {
	if path == "" && g.denies.Load() {
		return func(yield func(coord.Node, error) bool) { yield(coord.Node{}, coord.ErrDenied) }
	}
	return g.Registry.Walk(ctx, path)
}
