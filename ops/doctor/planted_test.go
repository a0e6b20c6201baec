package doctor_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/doctor"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// planting puts something wrong into a tree that is in good health.
type planting struct {
	plant func(*fixture)
	want  []doctor.Kind
}

// Each kind is planted, and nothing else is found.
func TestPlanted(t *testing.T) {
	for name, c := range plantings() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inGoodHealth(t, func(f *fixture) {
				c.plant(f)
				f.finds(c.want...)
			})
		})
	}
}

func plantings() map[string]planting {
	now := time.Now
	lastTick := func() time.Time { return now().Truncate(time.Minute) }
	return map[string]planting{
		"nothing":     {func(*fixture) {}, nil},
		"no instance": {func(f *fixture) { f.dies(0); f.dies(1) }, []doctor.Kind{doctor.NoInstance}},
		"no instance of a one-off job": {func(f *fixture) {
			f.configure(func(c *job.Config) { c.Cron = "" })
			f.dies(0)
			f.dies(1)
		}, nil},
		"not offered": {func(f *fixture) {
			f.dies(0)
			f.dies(1)
			f.offers("report", "SCRIPT")
		}, []doctor.Kind{doctor.NotOffered}},
		"offered, and not served": {func(f *fixture) {
			f.dies(0)
			f.dies(1)
			f.offers("settle")
		}, []doctor.Kind{doctor.NoInstance}},
		"no leader": {func(f *fixture) { f.commit(coord.DeleteTree(f.job.LeaderInstance())) }, []doctor.Kind{doctor.NoLeader}},
		"a leader that is gone": {func(f *fixture) {
			other := f.dial()
			f.commit(coord.DeleteTree(f.job.LeaderInstance()))
			if _, err := other.Commit(f.Context(), coord.CreateEphemeral(f.job.LeaderInstance(), []byte("10.0.0.9@-@1-x"))); err != nil {
				f.Fatal(err)
			}
		}, []doctor.Kind{doctor.NoLeader}},
		"all disabled": {func(f *fixture) {
			f.commit(coord.Put(f.job.Server(f.ip(0)), []byte(jobtree.Disabled)), coord.Put(f.job.Server(f.ip(1)), []byte(jobtree.Disabled)))
		}, []doctor.Kind{doctor.AllDisabled}},
		"label": {func(f *fixture) { f.configure(func(c *job.Config) { c.Label = "gpu" }) }, []doctor.Kind{doctor.LabelNobody}},
		"nobody may": {func(f *fixture) {
			for n := range 2 {
				f.says(n, func(d *jobtree.SessionDocument) { d.ClockOff = true })
			}
		}, []doctor.Kind{doctor.ClockOff, effect(doctor.NobodyMay)}},
		"clock far": {func(f *fixture) {
			f.says(1, func(d *jobtree.SessionDocument) { d.ClockFar = true })
		}, []doctor.Kind{doctor.ClockOff, effect(doctor.ItemOwnerBarred)}},
		"paused": {func(f *fixture) {
			f.inForce(func(d *jobtree.ScheduleDocument) { d.Pause = jobtree.Pause{Paused: now(), PausedBy: "anna"} })
		}, []doctor.Kind{doctor.Paused}},
		"expired": {func(f *fixture) {
			f.configure(func(c *job.Config) { c.Expiry.At = now().Add(-20 * time.Second).Truncate(time.Second) })
		}, []doctor.Kind{doctor.Expired}},
		"no tick": {func(f *fixture) {
			f.configure(func(c *job.Config) { c.Cron = "0 0 0 1 1 ? 1999" })
		}, []doctor.Kind{doctor.NoTick}},
		"not in force": {func(f *fixture) {
			f.inForce(func(d *jobtree.ScheduleDocument) { d.Cron = "0 0 0 * * ?" })
		}, []doctor.Kind{doctor.NotInForce}},
		"calendar gone": {func(f *fixture) {
			f.configure(func(c *job.Config) { c.Calendars = []string{"holidays"} })
		}, []doctor.Kind{doctor.CalendarBroken}},
		"calendar unreadable": {func(f *fixture) {
			f.commit(coord.Put(jobtree.Calendar("holidays"), []byte("nothing: known")))
			f.configure(func(c *job.Config) { c.Calendars = []string{"holidays"} })
		}, []doctor.Kind{doctor.CalendarBroken, doctor.DocumentUnreadable}},
		"config unreadable": {func(f *fixture) {
			f.commit(coord.Put(f.job.Config(), []byte("cron: never")))
			f.config = f.get(f.job.Config()).Modified
			f.says(0, func(*jobtree.SessionDocument) {})
			f.says(1, func(d *jobtree.SessionDocument) { d.Refused = f.config })
		}, []doctor.Kind{doctor.ConfigUnreadable, effect(doctor.ConfigRefused)}},
		"config of another job": {func(f *fixture) { f.configure(func(c *job.Config) { c.Name = "other" }) }, []doctor.Kind{doctor.ConfigUnreadable}},
		"config behind": {func(f *fixture) {
			f.says(1, func(d *jobtree.SessionDocument) { d.Accepted-- })
		}, []doctor.Kind{doctor.ConfigBehind}},
		"revision": {func(f *fixture) {
			f.says(1, func(d *jobtree.SessionDocument) { d.Revision = 7 })
		}, []doctor.Kind{doctor.ConfigDiffers}},
		"protocol newer": {func(f *fixture) {
			f.says(1, func(d *jobtree.SessionDocument) { d.Protocol++ })
		}, []doctor.Kind{doctor.ProtocolNewer}},
		"protocol older": {func(f *fixture) {
			f.says(1, func(d *jobtree.SessionDocument) { d.Protocol-- })
		}, []doctor.Kind{doctor.ProtocolOlder}},
		"JVM members, and nothing that they do not know": {func(f *fixture) { f.isJVM(1) }, []doctor.Kind{doctor.Mixed}},
		"JVM members and pins": {func(f *fixture) {
			f.isJVM(1)
			f.commit(coord.Put(f.job.Pin(0), jobtree.EncodePin(jobtree.PinDocument{Address: f.ip(0)})))
		}, []doctor.Kind{doctor.Mixed, doctor.MixedJVM}},
		"JVM members and what they do otherwise": {func(f *fixture) {
			f.configure(func(c *job.Config) { c.StaticSharding, c.Timeout, c.Threads = true, time.Minute, 9 }) // threads do no harm
			f.isJVM(1)
		}, []doctor.Kind{doctor.Mixed, doctor.MixedJVM, doctor.MixedJVM}},
		"JVM members and a pause": {func(f *fixture) {
			f.isJVM(1)
			f.inForce(func(d *jobtree.ScheduleDocument) { d.Pause = jobtree.Pause{Paused: now(), PausedBy: "anna"} })
		}, []doctor.Kind{doctor.Mixed, doctor.MixedJVM, doctor.Paused}},
		"a member of 2.1": {func(f *fixture) {
			f.isJVM(1)
			f.commit(coord.Put(f.job.Instance(f.ids[1]), nil), coord.Put(f.job.Server(f.ip(1)), nil))
		}, []doctor.Kind{doctor.MixedJVM, effect(doctor.Mixed)}},
		"a server of 2.1": {func(f *fixture) { f.commit(coord.Put(f.job.Server("10.0.0.9"), nil)) }, []doctor.Kind{doctor.MixedJVM}},
		"fault": {func(f *fixture) {
			document := jobtree.EncodeFaults([]jobtree.FaultRecord{{Kind: "store", Cause: "it does not answer", Since: now()}, {Kind: "tree", Cause: "something is in the way", Since: now()}})
			f.commitBy(1, coord.CreateEphemeral(f.job.Faults(f.ids[1]), document))
		}, []doctor.Kind{doctor.Faulty, doctor.Faulty}},
		"server idle":  {func(f *fixture) { f.commit(coord.Put(f.job.Server("10.0.0.9"), []byte(jobtree.Disabled))) }, []doctor.Kind{doctor.ServerIdle}},
		"deal pending": {func(f *fixture) { f.commit(coord.Put(f.job.Necessary(), nil)) }, []doctor.Kind{doctor.ReshardPending}},
		"processing":   {func(f *fixture) { f.commit(coord.Put(f.job.Processing(), nil)) }, []doctor.Kind{doctor.StaleProcessing}},
		"nodes of no session": {func(f *fixture) {
			for _, path := range []string{f.job.Instance("10.0.0.9@-@1"), f.job.Session("10.0.0.9@-@1"), f.job.Faults("10.0.0.9@-@1"), jobtree.Node("10.0.0.9@-@1")} {
				f.commit(coord.Put(path, []byte("items: 0")))
			}
		}, []doctor.Kind{doctor.StaleNode, doctor.StaleNode} /* of the job, and of the namespace */},
		"debris": {func(f *fixture) { f.commit(coord.Put(f.job.Failovering(0)+"/x", []byte("y"))) }, []doctor.Kind{doctor.Debris}},
		"too large": {func(f *fixture) {
			f.commit(coord.Put(f.job.Faults("10.0.0.9@-@1"), make([]byte, 20_000)), coord.Put(f.job.Pin(0), make([]byte, 20_000)))
		}, []doctor.Kind{doctor.NodeTooLarge}},
		"too many": {func(f *fixture) {
			for i := 0; i < 20_100; i += 100 {
				var ops []coord.Op
				for j := range 100 {
					ops = append(ops, coord.Put(fmt.Sprintf("%s/junk/%d", f.job.Root(), i+j), nil))
				}
				f.commit(ops...)
			}
		}, []doctor.Kind{doctor.NodeTooLarge}},
		"values that nobody can read": {func(f *fixture) {
			for _, path := range []string{f.job.Pin(0), f.job.Kill(0), f.job.Request("000000000001-x")} {
				f.commit(coord.Put(path, []byte("?")))
			}
			f.commit(coord.Put(jobtree.Calendar("c"), []byte("?")))
		}, []doctor.Kind{doctor.DocumentUnreadable, doctor.DocumentUnreadable, doctor.DocumentUnreadable, doctor.DocumentUnreadable}},
		"from the future": {func(f *fixture) {
			f.commit(coord.Put(f.job.Fired(1), jobtree.EncodeFired(now().Add(time.Hour))))
		}, []doctor.Kind{doctor.FutureTime}},
		"schedule from the future": {func(f *fixture) {
			f.inForce(func(d *jobtree.ScheduleDocument) { d.Since = now().Add(time.Hour) })
		}, []doctor.Kind{doctor.FutureTime}},
		"unowned":    {func(f *fixture) { f.commit(coord.DeleteTree(f.job.ItemInstance(2))) }, []doctor.Kind{doctor.ItemUnowned}},
		"owner gone": {func(f *fixture) { f.dies(1) }, []doctor.Kind{doctor.ItemOwnerGone}},
		"owner gone for a while": {func(f *fixture) {
			f.configure(func(c *job.Config) { c.StaticSharding = true })
			f.dies(1)
			time.Sleep(31 * time.Second)
			f.commit(coord.Put(f.job.Fired(0), jobtree.EncodeFired(now())), coord.Put(f.job.Fired(2), jobtree.EncodeFired(now())))
		}, []doctor.Kind{doctor.ItemOwnerGone}},
		"owner barred": {func(f *fixture) { f.commit(coord.Put(f.job.Server(f.ip(1)), []byte(jobtree.Disabled))) }, []doctor.Kind{doctor.ItemOwnerBarred}},
		"no room": {func(f *fixture) {
			f.configure(func(c *job.Config) { c.MaxItems = 1 })
			f.commit(coord.DeleteTree(f.job.ItemInstance(2)))
		}, []doctor.Kind{doctor.ItemNoRoom}},
		"item disabled": {func(f *fixture) { f.commit(coord.Put(f.job.ItemDisabled(1), nil)) }, []doctor.Kind{doctor.ItemDisabled}},
		"overdue": {func(f *fixture) {
			f.commit(coord.Put(f.job.Fired(1), jobtree.EncodeFired(lastTick().Add(-time.Minute))))
		}, []doctor.Kind{doctor.ItemOverdue}},
		"queued": {func(f *fixture) {
			f.runs(0, 0, lastTick().Add(-5*time.Minute))
			f.commit(coord.Put(f.job.Fired(2), jobtree.EncodeFired(lastTick().Add(-time.Minute))))
		}, []doctor.Kind{doctor.RunOvertaken, effect(doctor.ItemQueued)}},
		"overtaken":    {func(f *fixture) { f.runs(1, 1, lastTick().Add(-time.Minute)) }, []doctor.Kind{doctor.RunOvertaken}},
		"runs in time": {func(f *fixture) { f.runs(1, 1, lastTick()) }, nil},
		"all items fail": {func(f *fixture) {
			f.fails(0, jobtree.OutcomeFailed)
			f.fails(1, jobtree.OutcomePanic)
			f.fails(2, jobtree.OutcomeTimeout)
		}, []doctor.Kind{doctor.ItemsFail}},
		"all items fail but a disabled one": {func(f *fixture) {
			f.fails(0, jobtree.OutcomeFailed)
			f.fails(1, jobtree.OutcomeFailed)
			f.commit(coord.Put(f.job.ItemDisabled(2), nil))
		}, []doctor.Kind{doctor.ItemDisabled, doctor.ItemsFail}},
		"an item has not failed": {func(f *fixture) {
			f.fails(0, jobtree.OutcomeFailed)
			f.fails(1, jobtree.OutcomeFailed)
			f.fails(2, jobtree.OutcomeOK)
		}, []doctor.Kind{doctor.ItemsFail}},
		"no item has failed": {func(f *fixture) { f.fails(0, jobtree.OutcomeOK) }, nil},
		"an item has not run": {func(f *fixture) {
			f.fails(0, jobtree.OutcomeFailed)
			f.fails(1, jobtree.OutcomeFailed)
		}, []doctor.Kind{doctor.ItemsFail}},
		"an item was killed": {func(f *fixture) {
			for i, o := range []jobtree.Outcome{jobtree.OutcomeKilled, jobtree.OutcomeFailed, jobtree.OutcomeFailed} {
				f.fails(i, o)
			}
		}, []doctor.Kind{doctor.ItemsFail}},
		"items begin late": {func(f *fixture) {
			f.begins(0, "NORMAL_TRIGGER", 61*time.Second)
			f.begins(1, "MISFIRE", 2*time.Minute)
			f.begins(2, "RETRY", time.Hour) // its tick is of the past
		}, []doctor.Kind{doctor.ItemLate}},
		"items begin within the jitter": {func(f *fixture) {
			f.configure(func(c *job.Config) { c.Jitter = 5 * time.Second })
			f.begins(0, "NORMAL_TRIGGER", 65*time.Second)
		}, nil},
		"items begin late because they are allowed less": {func(f *fixture) {
			f.options.Thresholds.Late = time.Second
			f.begins(0, "NORMAL_TRIGGER", 2*time.Second)
		}, []doctor.Kind{doctor.ItemLate}},
		"made up at the end of a pause": {func(f *fixture) {
			f.begins(0, "MISFIRE", 2*time.Minute)
			f.inForce(func(d *jobtree.ScheduleDocument) { d.MakeUpTo = lastTick().Add(2 * time.Minute) })
			for i := range 3 {
				f.commit(coord.Put(f.job.Fired(i), jobtree.EncodeFired(lastTick())))
			}
		}, nil},
		"runs for longer than it may": {func(f *fixture) {
			f.options.Thresholds.Long = 20 * time.Second
			f.runs(1, 1, lastTick())
		}, []doctor.Kind{doctor.RunOvertaken}},
		"never a success": {func(f *fixture) {
			f.options.History = past{}
			f.fails(0, jobtree.OutcomeFailed)
		}, []doctor.Kind{doctor.ItemsFail, doctor.NeverSucceeded}},
		"a success long ago": {func(f *fixture) {
			f.options.History = past{succeeded: true}
			f.fails(0, jobtree.OutcomeFailed)
		}, []doctor.Kind{doctor.ItemsFail}},
		"ticks missed": {func(f *fixture) {
			f.options.History = past{madeUp: 90, skipped: map[string]int64{"too late": 11}}
		}, []doctor.Kind{doctor.TicksMissed}},
		"not many ticks missed": {func(f *fixture) { f.options.History = past{madeUp: 100} }, nil},
		"ticks skipped because somebody wants it so": {func(f *fixture) {
			f.options.History = past{skipped: map[string]int64{"item disabled": 1000, "servers disabled": 1000, "while running": 1000}}
		}, nil},
		"stale running": {func(f *fixture) { f.commit(coord.Put(f.job.Running(1), []byte("10.0.0.9@-@1"))) }, []doctor.Kind{doctor.StaleRunning}},
		"running in a JVM for long": {func(f *fixture) {
			f.isJVM(1)
			f.runs(1, 1, lastTick().Add(-time.Minute))
		}, []doctor.Kind{doctor.JVMRunning, doctor.Mixed}},
		"running in a JVM in time": {func(f *fixture) {
			f.isJVM(1)
			f.runs(1, 1, lastTick())
		}, []doctor.Kind{doctor.Mixed}},
		"failover waits": {func(f *fixture) {
			f.commit(coord.Put(f.job.FailoverItem(2), jobtree.EncodeFired(lastTick())))
		}, []doctor.Kind{doctor.FailoverWaits}},
		"failover waits for an earlier run": {func(f *fixture) {
			f.runs(0, 2, lastTick())
			f.commit(coord.Put(f.job.FailoverItem(2), jobtree.EncodeFired(lastTick())))
		}, []doctor.Kind{doctor.FailoverWaits}},
		"pins": {func(f *fixture) {
			f.commit(coord.Put(f.job.Pin(0), jobtree.EncodePin(jobtree.PinDocument{Label: "gpu", Strict: true})), coord.DeleteTree(f.job.ItemInstance(0)))
			f.commit(coord.Put(f.job.Pin(1), jobtree.EncodePin(jobtree.PinDocument{Instance: "10.0.0.9@-@1"})))
			f.commit(coord.Put(f.job.Pin(2), jobtree.EncodePin(jobtree.PinDocument{Address: f.ip(1)})))
			f.commit(coord.Put(f.job.Pin(7), jobtree.EncodePin(jobtree.PinDocument{Address: f.ip(1)})))
		}, []doctor.Kind{doctor.PinUnmatched, doctor.PinUnmatched, doctor.PinUnmatched}},
		"request waits": {func(f *fixture) {
			f.asks("000000000001-x", now().Add(-10*time.Minute))
			f.asks("000000000002-x", now().Add(-time.Second))
		}, []doctor.Kind{doctor.RequestWaits}},
		"kill waits": {func(f *fixture) {
			f.runs(0, 0, lastTick())
			f.commit(coord.Put(f.job.Kill(0), jobtree.EncodeKill(jobtree.KillDocument{Token: f.get(f.job.Fired(0)).Modified, By: "anna", At: now().Add(-2 * time.Minute)})))
		}, []doctor.Kind{doctor.KillWaits}},
		"no job": {func(f *fixture) { f.commit(coord.Put("a/b/c", nil)) }, []doctor.Kind{doctor.NoJob}},
		"removal rest": {func(f *fixture) {
			f.commit(coord.Put(jobtree.Job("gone").Removal(), nil), coord.Put(jobtree.Job("gone").Fired(7), nil))
		}, []doctor.Kind{doctor.RemovalRest}},
		"a name that no job can have": {func(f *fixture) { f.commit(coord.Put("a b/config", nil)) }, []doctor.Kind{doctor.UnusableName}},
		"jobs that only JVM members can have": {func(f *fixture) {
			for _, name := range []jobtree.Job{"订单任务", "com.foo.Job$Inner", "my job", "a(b)"} {
				f.commit(coord.Put(name.Config(), []byte("jobName: x\n")), coord.CreateEphemeral(name.Instance("10.0.0.9@-@1"), nil),
					coord.CreateEphemeral(name.Running(0), nil), coord.Put(name.ItemInstance(0), []byte("10.0.0.9@-@1")))
			}
		}, []doctor.Kind{doctor.JVMOnly, doctor.JVMOnly, doctor.JVMOnly, doctor.JVMOnly}},
		"a migration has stopped": {func(f *fixture) {
			f.commit(coord.Put(jobtree.Job("gone").Removal(), nil), coord.Put(jobtree.Job("gone").Fired(7), nil))
			f.moves("gone", jobtree.Leaving)
		}, []doctor.Kind{doctor.MigrationOpen}},
		"a note that nobody can read": {func(f *fixture) { f.commit(coord.Put(jobtree.Job("gone").Removal(), []byte("at: never"))) }, []doctor.Kind{doctor.DocumentUnreadable}},
		"a mark that nobody can read": {func(f *fixture) { f.commit(coord.Put(jobtree.Job("gone").Moving(), []byte("?"))) }, []doctor.Kind{doctor.DocumentUnreadable}},
		"a job that was moved, and is there again": {func(f *fixture) {
			f.commit(coord.Put(f.job.Removal(), jobtree.EncodeRemoval(jobtree.RemovalDocument{MovedTo: "etcd://new/shop"})))
		}, []doctor.Kind{doctor.RemovalIgnored}},
		"removal ignored":   {func(f *fixture) { f.commit(coord.Put(f.job.Removal(), nil)) }, []doctor.Kind{doctor.RemovalIgnored}},
		"the store's clock": {func(f *fixture) { f.store.SetClockOffset(-time.Minute) }, []doctor.Kind{doctor.ClockOff, doctor.FutureTime}},
		// As ElasticJob 3.0.x leaves its nodes when one of two members dies: the items are assigned again with the
		// next tick, and what was cut short waits until the other one is idle.
		"JVM members in a failover": {func(f *fixture) {
			f.bothJVM()
			f.commit(coord.Put(f.job.FailoverItem(1), nil), coord.Put(f.job.Necessary(), nil), coord.Put(f.job.Running(0), []byte(f.ids[0])))
		}, []doctor.Kind{doctor.FailoverWaits}},
		"JVM members after a failover": {func(f *fixture) {
			f.bothJVM()
			f.commit(coord.Put(f.job.Running(1), []byte(f.ids[0])), coord.Put(f.job.Failovering(1), []byte(f.ids[0])), coord.Put(f.job.Necessary(), nil))
			f.commitBy(0, coord.CreateEphemeral(f.job.Failover(1), []byte(f.ids[0])))
		}, nil},
		"JVM members lead, and deal for long": {func(f *fixture) {
			f.isJVM(0)
			f.commit(coord.Put(f.job.Processing(), nil), coord.Put(f.job.Necessary(), nil), coord.DeleteTree(f.job.ItemInstance(2)))
		}, []doctor.Kind{doctor.Mixed, doctor.StaleProcessing}},
	}
}

// bothJVM makes both instances JVM members, of which one has died.
func (f *fixture) bothJVM() {
	f.Helper()
	f.isJVM(0)
	f.isJVM(1)
	f.dies(1)
	f.commit(coord.DeleteTree(f.job.Schedule()))
	for i := range 3 {
		f.commit(coord.DeleteTree(f.job.Fired(i)))
	}
}

// offers adds a Runner that offers to serve jobs, and returns what rewrites its node.
func (f *fixture) offers(names ...string) (rewrite func()) {
	f.Helper()
	reg := f.dial()
	node := jobtree.Node("10.0.0.9@-@1-x")
	value := jobtree.EncodeNode(jobtree.NodeDocument{Offers: names})
	if _, err := reg.Commit(f.Context(), coord.CreateEphemeral(node, value)); err != nil {
		f.Fatal(err)
	}
	return func() { f.commit(coord.Put(node, value)) }
}

// moves plants the mark of a job on its way.
func (f *fixture) moves(name jobtree.Job, step jobtree.Step) {
	f.Helper()
	f.commit(coord.Put(name.Moving(), jobtree.EncodeMoving(jobtree.MovingDocument{Step: step, Migration: "m"})))
}

// fails records how the last execution of an item has ended.
func (f *fixture) fails(item int, o jobtree.Outcome) {
	f.Helper()
	f.commit(coord.Put(f.job.Completion(item), jobtree.EncodeCompletion(jobtree.CompletionDocument{
		Tick: time.Now().Truncate(time.Minute), Outcome: o, Ended: time.Now(), Error: "no such table",
	})))
}

// begins records that the last execution of an item has begun so long after its tick.
func (f *fixture) begins(item int, source string, late time.Duration) {
	f.Helper()
	tick := time.Now().Truncate(time.Minute)
	f.commit(coord.Put(f.job.Completion(item), jobtree.EncodeCompletion(jobtree.CompletionDocument{
		Tick: tick, Source: source, Outcome: jobtree.OutcomeOK, Begun: tick.Add(late), Ended: tick.Add(late),
	})))
}

// past is the history of the job, and of one that is in another namespace.
type past struct {
	history.Reader
	succeeded bool
	madeUp    int64
	skipped   map[string]int64
	fails     error
}

func (p past) Executions(_ context.Context, f history.ExecutionFilter) (page history.Page[history.Execution], err error) {
	if p.succeeded && f.Job == "settle" {
		page.Rows = append(page.Rows, history.Execution{Job: f.Job})
	}
	return page, p.fails
}

func (p past) Events(context.Context, history.EventFilter) (history.Page[trace.Event], error) {
	return history.Page[trace.Event]{Rows: []trace.Event{{Job: "other"}, {Job: "settle"}, {Job: "settle"}}}, p.fails
}

func (p past) Missed(_ context.Context, q history.CountQuery) ([]history.Missed, error) {
	return []history.Missed{{Start: q.To.Truncate(time.Hour), MadeUp: p.madeUp, Skipped: p.skipped}}, p.fails
}

// A history that does not answer hides no finding, and the report says so.
func TestHistoryFails(t *testing.T) {
	inGoodHealth(t, func(f *fixture) {
		f.options.History = past{fails: errors.New("no such table")}
		f.commit(coord.Put(f.job.ItemDisabled(1), nil))
		if r := f.finds(doctor.ItemDisabled); !strings.Contains(r.NoHistory, "no such table") {
			t.Errorf("%q", r.NoHistory)
		}
	})
}

// asks asks for a run of item 0.
func (f *fixture) asks(id string, at time.Time) {
	f.Helper()
	document, err := jobtree.EncodeRequest(jobtree.RequestDocument{Items: []int{0}, Source: "MANUAL", By: "anna", At: at, Kept: true})
	if err != nil {
		f.Fatal(err)
	}
	f.commit(coord.Put(f.job.Request(id), document))
}

// What is over at the second look is no finding, and neither is what has begun anew meanwhile.
func TestWhatPassesIsNoFinding(t *testing.T) {
	for name, c := range map[string]struct{ plant, pass func(*fixture) }{
		"a leader is elected": {
			func(f *fixture) { f.commit(coord.DeleteTree(f.job.LeaderInstance())) },
			func(f *fixture) { f.commitBy(1, coord.CreateEphemeral(f.job.LeaderInstance(), []byte(f.ids[1]))) },
		},
		"another late tick": {
			func(f *fixture) {
				f.commit(coord.Put(f.job.Fired(1), jobtree.EncodeFired(time.Now().Add(-3*time.Minute))))
			},
			func(f *fixture) {
				f.commit(coord.Put(f.job.Fired(1), jobtree.EncodeFired(time.Now().Add(-2*time.Minute))))
			},
		},
		"a Runner goes on to start jobs": {
			func(f *fixture) { f.dies(0); f.dies(1); f.rewrite = f.offers("settle") },
			func(f *fixture) { f.rewrite() },
		},
		"a migration goes on": {
			func(f *fixture) { f.moves("a", jobtree.Arriving) },
			func(f *fixture) { f.moves("a", jobtree.Arrived) },
		},
		"the job is removed": {
			func(f *fixture) { f.dies(0); f.dies(1) },
			func(f *fixture) { f.commit(coord.DeleteTree(f.job.Root())) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inGoodHealth(t, func(f *fixture) {
				c.plant(f)
				passes := time.AfterFunc(time.Second, func() { c.pass(f) })
				defer passes.Stop()
				if r := f.finds(); r.Looks != 2 {
					t.Errorf("%d looks", r.Looks)
				}
			})
		})
	}
}

// A look at a healthy namespace takes no time.
func TestOneLookIsEnough(t *testing.T) {
	inGoodHealth(t, func(f *fixture) {
		begun := time.Now()
		if r := f.finds(); r.Looks != 1 || r.Jobs != 1 || r.Worst() != 0 || time.Since(begun) != 0 {
			t.Errorf("%+v, after %v", r, time.Since(begun))
		}
	})
}

// Some jobs are examined, and others are not.
func TestSomeJobs(t *testing.T) {
	inGoodHealth(t, func(f *fixture) {
		f.dies(0)
		f.dies(1)
		f.commit(coord.Put("other/config", []byte("cron: never")))
		told := ""
		report, err := doctor.Examine(f.Context(), f.reg, doctor.Options{Jobs: []string{"settle", "settle"}, Wait: time.Second, Progress: func(done, of int) { told += fmt.Sprintf("%d of %d, ", done, of) }})
		if told != "1 of 1, 1 of 1, " { // two looks
			t.Errorf("the progress is %s", told)
		}
		if err != nil || report.Jobs != 1 || len(report.Findings) != 1 || report.Findings[0].Kind != doctor.NoInstance || report.Worst() != doctor.Critical {
			t.Errorf("%+v, %v", report, err)
		}
		for _, name := range []string{"none", "a/b", "", "~elasticjob"} {
			if _, err := doctor.Examine(f.Context(), f.reg, doctor.Options{Jobs: []string{name}}); !errors.Is(err, ops.ErrNoJob) {
				t.Errorf("%q: %v", name, err)
			}
		}
	})
}

// What this user may not read is a finding, and the rest is examined.
func TestDenied(t *testing.T) {
	deny := func(f *fixture, paths ...string) {
		for _, path := range paths {
			f.store.Inject(memory.Fault{Method: memory.Walk, Path: path, Before: coord.ErrDenied})
		}
	}
	for name, c := range map[string]struct {
		plant func(*fixture)
		want  []string
	}{
		"a job": {func(f *fixture) {
			f.denyAll.Store(true)
			deny(f, "settle")
		}, []string{"settle"}},
		"what all share": {func(f *fixture) { deny(f, jobtree.Nodes, jobtree.Calendars) }, []string{jobtree.Calendars, jobtree.Nodes}},
		"all": {func(f *fixture) {
			f.denyAll.Store(true)
			f.store.Inject(memory.Fault{Method: memory.List, Before: coord.ErrDenied})
		}, []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			inGoodHealth(t, func(f *fixture) {
				f.commit(coord.Put("other", nil))
				c.plant(f)
				var got []string
				for _, found := range f.examine().Findings {
					if found.Kind == doctor.RightsMissing {
						got = append(got, found.Path)
					}
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("found %q, want %q", got, c.want)
				}
			})
		})
	}
}

// A store that does not answer is an error.
func TestUnavailable(t *testing.T) {
	inGoodHealth(t, func(f *fixture) {
		f.store.Inject(memory.Fault{Method: memory.Walk, Times: 1, Before: coord.ErrUnavailable})
		if _, err := doctor.Examine(f.Context(), f.reg, doctor.Options{}); !errors.Is(err, coord.ErrUnavailable) {
			t.Error(err)
		}
		f.store.Inject(memory.Fault{Method: memory.Walk, Times: 2, Before: coord.ErrCompacted}) // each time another walk
		f.finds()
		ctx, cancel := context.WithCancelCause(f.Context())
		cancel(errors.New("enough"))
		if _, err := doctor.Examine(ctx, f.reg, doctor.Options{}); err == nil || !strings.Contains(err.Error(), "enough") {
			t.Error(err)
		}
	})
}

// Many findings are bounded, and so are their items. Many of one kind do not keep others out.
func TestManyFindings(t *testing.T) {
	inGoodHealth(t, func(f *fixture) {
		f.configure(func(c *job.Config) { c.ShardingTotalCount = 2500 })
		var list []coord.Op
		for i := range 1007 {
			if list = append(list, coord.Put(fmt.Sprintf("junk-%06d", i), nil)); len(list) == 100 || i == 1006 {
				f.commit(list...)
				list = nil
			}
		}
		r := f.examine()
		if len(r.Findings) != 2 || len(r.Findings[1].Others) != 100 || r.Findings[1].MoreOthers != 899 || r.More != 7 {
			t.Fatalf("%v, and %d more", r.Findings, r.More)
		}
		if found := r.Findings[0]; found.Kind != doctor.ItemUnowned || len(found.Items) != 100 || found.Items[0] != 3 || found.MoreItems != 2397 {
			t.Errorf("%v", found)
		}
	})
}

// Jobs are read one after the other also if the nodes of one stand between those of another.
func TestJobsWhoseNodesAreMixed(t *testing.T) {
	inGoodHealth(t, func(f *fixture) {
		config := func(name string) []byte {
			cfg := f.cfg
			cfg.Name = name
			document, err := cfg.Encode(nil)
			if err != nil {
				t.Fatal(err)
			}
			return document
		}
		names := []string{"a", "a-", "a-b", "a-b.c", "a-c", "a.b", "a0", "ab", "b"}
		for _, name := range names {
			j := jobtree.Job(name)
			f.commit(coord.Put(j.Config(), config(name)), coord.Put(j.ItemDisabled(1), nil), coord.Put(j.ItemDisabled(0), nil), coord.Put(j.ItemDisabled(2), nil))
			in := f.ids[0]
			f.commitBy(0, coord.CreateEphemeral(j.Instance(in), nil), coord.CreateEphemeral(j.LeaderInstance(), []byte(in)))
			for i := range 3 {
				f.commit(coord.Put(j.ItemInstance(i), []byte(in)))
			}
		}
		r := f.examine()
		var got []string
		for _, found := range r.Findings {
			got = append(got, found.Job)
			if found.Kind != doctor.ItemDisabled || fmt.Sprint(found.Items) != "[0 1 2]" || found.Command != "elasticjob enable "+found.Job+" --items 0-2" {
				t.Errorf("%v", found)
			}
		}
		if !slices.Equal(got, names) || r.Jobs != len(names)+1 {
			t.Errorf("%d jobs, found %q", r.Jobs, got)
		}
	})
}

// Items that have failed once are no warning as long as others succeed.
func TestItemsFail(t *testing.T) {
	for outcomes, want := range map[string]doctor.Severity{
		"FAILED OK": doctor.Info, "FAILED FAILED OK": doctor.Info, "FAILED FAILED FAILED": doctor.Warning,
		"FAILED": doctor.Warning, "FAILED KILLED": doctor.Warning, // no item has ever succeeded
	} {
		inGoodHealth(t, func(f *fixture) {
			for i, o := range strings.Fields(outcomes) {
				f.fails(i, jobtree.Outcome(o))
			}
			if found := f.finds(doctor.ItemsFail).Findings; found[0].Severity != want || len(found[0].Items) != strings.Count(outcomes, "FAILED") || found[0].Command != "elasticjob retry settle" {
				f.Errorf("%s: %v", outcomes, found)
			}
		})
	}
}

// What is wrong in a configuration that can be read as a whole is corrected as it stands there; any other is written anew.
func TestWhatCorrectsAConfiguration(t *testing.T) {
	for document, want := range map[string]string{
		"failover: true\nmonitorExecution: false\n": "elasticjob edit settle",
		"failover: maybe\n":                         "elasticjob apply -f FILE",
		"{":                                         "elasticjob apply -f FILE",
	} {
		inGoodHealth(t, func(f *fixture) {
			f.commit(coord.Put(f.job.Config(), []byte("jobName: settle\nshardingTotalCount: 3\n"+document)))
			for n := range f.hosts {
				f.says(n, func(d *jobtree.SessionDocument) { d.Accepted = f.get(f.job.Config()).Modified })
			}
			if found := f.finds(doctor.ConfigUnreadable).Findings[0]; found.Command != want {
				t.Errorf("%q: %v", document, found)
			}
		})
	}
}
