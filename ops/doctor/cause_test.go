package doctor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtest"
	"github.com/elasticjob-go/elasticjob/ops/doctor"
)

// many lets there be so many instances, each with an item that it has begun in time.
func (f *fixture) many(size int) {
	f.Helper()
	f.configure(func(c *job.Config) { c.ShardingTotalCount = size })
	for n := len(f.hosts); n < size; n++ {
		f.hosts = append(f.hosts, f.dial())
		f.ids = append(f.ids, jobtree.InstanceID(f.ip(n), 1, fmt.Sprintf("r%d", n)))
		f.join(n, jobtree.SessionDocument{Protocol: jobtree.Protocol, Accepted: f.config})
		f.commit(coord.Put(f.job.Server(f.ip(n)), []byte(jobtree.Enabled)))
	}
	for i := range size {
		f.commit(coord.Put(f.job.ItemInstance(i), []byte(f.ids[i])), coord.Put(f.job.Fired(i), jobtree.EncodeFired(time.Now().Add(-30*time.Second))))
	}
}

// late lets an item have missed its last tick.
func (f *fixture) late(item int) {
	f.Helper()
	f.commit(coord.Put(f.job.Fired(item), jobtree.EncodeFired(time.Now().Truncate(time.Minute).Add(-time.Minute))))
}

// faulty makes an instance show a fault.
func (f *fixture) faulty(n int, kind, cause string) {
	f.Helper()
	document := jobtree.EncodeFaults([]jobtree.FaultRecord{{Kind: kind, Cause: cause, Since: time.Now()}})
	f.commitBy(n, coord.CreateEphemeral(f.job.Faults(f.ids[n]), document))
}

const busy = "job settle: items %d should have begun; item %[1]d since 10:00:05: all 4 threads are busy, one of them with item %[1]d since 2026-01-01 09:58:00"

// Whatever fifty instances have in common is one finding, whose advice is that of the cause.
func TestOneFindingForACause(t *testing.T) {
	for name, c := range map[string]struct {
		plant   func(*fixture)
		kind    doctor.Kind
		advice  string
		effects []doctor.Kind
	}{
		"threads are busy": {func(f *fixture) {
			for n := range f.ids {
				f.late(n)
				f.faulty(n, "starvation", fmt.Sprintf(busy, n))
			}
		}, doctor.Faulty, "raise their number", []doctor.Kind{doctor.ItemOverdue}},
		"executions hang": {func(f *fixture) {
			for n := range f.ids {
				f.runs(n, n, time.Now().Truncate(time.Minute).Add(-time.Minute))
				f.faulty(n, "starvation", fmt.Sprintf("job settle: items %d should have begun; item %[1]d since 10:00:05: its execution of 2026-01-01 09:58:00 is not through", n))
			}
		}, doctor.RunOvertaken, "time-out", []doctor.Kind{doctor.Faulty}},
		"a label that nobody has": {func(f *fixture) {
			f.configure(func(c *job.Config) { c.Label = "gpu" })
			f.asks("000000000001-x", time.Now().Add(-10*time.Minute))
			for n := range f.ids {
				f.faulty(n, "starvation", fmt.Sprintf(`job settle: items 0 should have begun; item 0 since 10:00:%02d: no instance has the label "gpu"`, n))
			}
		}, doctor.LabelNobody, "start a process with the label", []doctor.Kind{doctor.Faulty, doctor.RequestWaits}},
		"the store refuses": {func(f *fixture) {
			for n := range f.ids {
				f.late(n)
				document := jobtree.EncodeFaults([]jobtree.FaultRecord{
					{Kind: "starvation", Cause: "its claim does not succeed", Since: time.Now()}, {Kind: "store", Cause: "commit: timeout after 5s", Since: time.Now()},
				})
				f.commitBy(n, coord.CreateEphemeral(f.job.Faults(f.ids[n]), document))
			}
		}, doctor.Faulty, "check the store", []doctor.Kind{doctor.Faulty, doctor.ItemOverdue}},
		"the strategy fails": {func(f *fixture) {
			f.commit(coord.Put(f.job.Necessary(), nil))
			for n := range f.ids {
				f.commit(coord.DeleteTree(f.job.ItemInstance(n)))
			}
			f.faulty(0, "strategy", "it panics")
			for n := range f.ids[1:] {
				f.faulty(n+1, "starvation", fmt.Sprintf("job settle: items %d should have begun; item %[1]d since 10:00:05: it has no owner", n))
			}
		}, doctor.Faulty, "strategy", []doctor.Kind{doctor.Faulty, doctor.ItemUnowned, doctor.ReshardPending}},
		"all refuse": {func(f *fixture) {
			for n := range f.ids {
				f.says(n, func(d *jobtree.SessionDocument) { d.Refused = f.config })
				f.faulty(n, "configuration", "job settle: the configuration in the registry is refused")
			}
		}, doctor.ConfigRefused, "correct the configuration", []doctor.Kind{doctor.Faulty}},
		"one stands still, which others see": {func(f *fixture) {
			f.late(7)
			for n := range f.ids {
				if n != 7 {
					f.faulty(n, "starvation", fmt.Sprintf("job settle: items 7 should have begun; item 7 since 10:00:05: its instance %s is there and does not begin it", f.ids[7]))
				}
			}
		}, doctor.ItemOverdue, "restart it", []doctor.Kind{doctor.Faulty}},
		"runs that were killed": {func(f *fixture) {
			for n := range f.ids {
				f.runs(n, n, time.Now().Truncate(time.Minute).Add(-time.Minute))
				f.commit(coord.Put(f.job.Kill(n), jobtree.EncodeKill(jobtree.KillDocument{Token: f.get(f.job.Fired(n)).Modified, By: "anna", At: time.Now().Add(-2 * time.Minute)})))
			}
		}, doctor.KillWaits, "handler", []doctor.Kind{doctor.RunOvertaken}},
		"copied with their sessions": {func(f *fixture) {
			for n := range 50 {
				f.commit(coord.Put(f.job.Faults(jobtree.InstanceID("10.1.0.1", n, "x")), nil))
			}
		}, doctor.StaleNode, "remove", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inGoodHealth(t, func(f *fixture) {
				f.many(50)
				c.plant(f)
				r := f.examine()
				if len(r.Findings) != 1 {
					t.Fatalf("%d findings, such as %v", len(r.Findings), r.Findings[:min(len(r.Findings), 3)])
				}
				found := r.Findings[0]
				f.complete(found)
				var effects []doctor.Kind
				for _, e := range found.Effects {
					effects = append(effects, e.Kind)
				}
				slices.Sort(effects)
				if found.Kind != c.kind || !strings.Contains(found.Advice, c.advice) || !slices.Equal(effects, c.effects) {
					t.Errorf("%v\nwant %s: %s, with effects %v", found, c.kind, c.advice, c.effects)
				}
				if n := len(fmt.Sprint(found)); n > 2000 {
					t.Errorf("its text has %d bytes", n)
				}
			})
		})
	}
}

// A finding is as bad as the worst of its effects, since the first of its symptoms, and says where else it shows.
func TestFindingOfMany(t *testing.T) {
	inGoodHealth(t, func(f *fixture) {
		f.many(120)
		for n := range f.ids {
			f.late(n)
			f.faulty(n, "starvation", fmt.Sprintf(busy, n))
			time.Sleep(time.Millisecond)
		}
		r := f.examine()
		if len(r.Findings) != 1 {
			t.Fatalf("%d findings", len(r.Findings))
		}
		found := r.Findings[0]
		if found.Severity != doctor.Critical || len(found.Others) != 100 || found.MoreOthers != 19 || found.Instance == found.Others[0].Instance || found.Others[0].Path == "" {
			t.Errorf("%+v", found)
		}
		if first := f.get(f.job.Faults(f.ids[0])); !strings.Contains(string(first.Value), found.Since.UTC().Format("15:04:05.000")) {
			t.Errorf("since %v, want that of %s", found.Since, first.Value)
		}
		if e := found.Effects[0]; e.More != 119 || len(e.Items) != 100 || e.Items[99] != 99 || e.MoreItems != 20 {
			t.Errorf("%+v", e)
		}
	})
}

// Troubles that have nothing to do with each other stay apart, though they are of one kind.
func TestDistinctCauses(t *testing.T) {
	inGoodHealth(t, func(f *fixture) {
		f.many(4)
		f.runs(0, 0, time.Now().Truncate(time.Minute).Add(-time.Minute))
		f.faulty(0, "store", "commit: permission denied")
		f.faulty(1, "store", "commit: no answer within 5s")
		f.late(2)
		f.faulty(2, "starvation", fmt.Sprintf(busy, 2))
		f.commit(coord.Put(f.job.Pin(9), jobtree.EncodePin(jobtree.PinDocument{Label: "gpu", Strict: true}))) // of no item: it keeps nothing from nobody
		f.finds(doctor.RunOvertaken, doctor.Faulty, doctor.Faulty, doctor.Faulty, effect(doctor.ItemOverdue), doctor.PinUnmatched)
	})
}

// What instances themselves say of the same trouble, and at different times, is one finding too.
func TestOneFindingOfACluster(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*job.Config)
		lasts  time.Duration
		want   doctor.Kind
	}{
		"threads are busy":        {func(c *job.Config) { c.Threads = 1 }, 20 * time.Second, doctor.Faulty},
		"executions hang":         {func(c *job.Config) { c.Threads = 2 }, time.Hour, doctor.RunOvertaken},
		"a label that nobody has": {func(c *job.Config) { c.Label = "gpu" }, time.Second, doctor.LabelNobody},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cluster := jobtest.NewCluster(t)
				reg, err := cluster.Store().Dial(t.Context(), memory.Config{Namespace: "jobtest", Name: "doctor"})
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = reg.Close(t.Context()) }()
				cfg := job.Config{Name: "settle", Cron: "0 * * * * ?", TimeZone: "UTC", ShardingTotalCount: 40, Failover: true}
				c.change(&cfg)
				for n := range 8 {
					cluster.Process(fmt.Sprintf("10.0.0.%d", n+1)).Schedule(cfg, lasts(c.lasts))
				}
				time.Sleep(4*time.Minute + 50*time.Second)
				report, err := doctor.Examine(t.Context(), reg, doctor.Options{})
				if err != nil || len(report.Findings) != 1 || report.Findings[0].Kind != c.want || len(report.Findings[0].Effects) == 0 {
					t.Errorf("%v", err)
					for _, found := range report.Findings {
						t.Log(found)
					}
				}
			})
		})
	}
}
