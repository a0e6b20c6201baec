package doctor_test

import (
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops/doctor"
)

// causes expects one finding or effect of a kind whose text says why.
func (f *fixture) causes(kind doctor.Kind, why string) {
	f.Helper()
	var texts []string
	report := f.examine()
	for _, found := range report.Findings {
		if found.Kind == kind {
			texts = append(texts, found.Cause)
		}
		for _, e := range found.Effects {
			if e.Kind == kind {
				texts = append(texts, e.Cause)
			}
		}
	}
	if len(texts) != 1 || !strings.Contains(texts[0], why) {
		f.Errorf("%v, want one %s: %s", report.Findings, kind, why)
	}
}

// A job that nobody runs says what the tree tells of those who did.
func TestWhyNobodyLives(t *testing.T) {
	inGoodHealth(t, func(f *fixture) {
		f.dies(0)
		f.dies(1)
		f.causes(doctor.NoInstance, "the last one has left, or died while it ran nothing")
		f.commit(coord.Put(f.job.Running(1), []byte("10.0.0.9@-@1")))
		f.causes(doctor.NoInstance, "one has crashed in the middle of items 1")
	})
}

// A request that waits says what for; one that runs does not wait.
func TestWhyRequestsWait(t *testing.T) {
	for name, c := range map[string]struct {
		plant func(*fixture)
		why   string
	}{
		"no instance":  {func(f *fixture) { f.dies(0); f.dies(1) }, "no instance lives"},
		"all disabled": {func(f *fixture) { f.disable(0, 1) }, "all servers are disabled"},
		"an earlier execution": {func(f *fixture) {
			f.runs(0, 0, time.Now().Truncate(time.Minute))
		}, "an earlier execution is not through"},
		"an old owner":    {func(f *fixture) { f.says(0, func(d *jobtree.SessionDocument) { d.Protocol = 1 }) }, "the owner is too old"},
		"the owner":       {func(*fixture) {}, "the owner does not begin"},
		"no owner":        {func(f *fixture) { f.commit(coord.DeleteTree(f.job.ItemInstance(0))) }, "an item has no owner"},
		"a disabled item": {func(f *fixture) { f.commit(coord.Put(f.job.ItemDisabled(0), nil)) }, "for disabled items"},
		"an owner that is gone": {func(f *fixture) {
			f.commit(coord.Put(f.job.ItemInstance(0), []byte("10.0.0.9@-@1")))
		}, "nobody may run it now"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inGoodHealth(t, func(f *fixture) {
				f.asks("000000000001-x", time.Now().Add(-10*time.Minute))
				c.plant(f)
				f.causes(doctor.RequestWaits, c.why)
			})
		})
	}
	t.Run("it runs", func(t *testing.T) {
		inGoodHealth(t, func(f *fixture) {
			f.asks("000000000001-x", time.Now().Add(-10*time.Minute))
			f.runs(0, 0, time.Now().Truncate(time.Minute))
			f.commit(coord.Put(f.job.Progress("000000000001-x", 0), jobtree.EncodeProgress(jobtree.ProgressDocument{Runner: f.ids[0]})))
			f.finds()
		})
	})
}

// disable disables the servers of instances.
func (f *fixture) disable(instances ...int) {
	f.Helper()
	for _, n := range instances {
		f.commit(coord.Put(f.job.Server(f.ip(n)), []byte(jobtree.Disabled)))
	}
}

// There is advice for each kind of fault.
func TestAdviceForFaults(t *testing.T) {
	inGoodHealth(t, func(f *fixture) {
		advice := map[string]job.FaultKind{}
		for kind := jobtype.FaultConfig; kind.String() != job.FaultKind(0).String(); kind++ {
			document := jobtree.EncodeFaults([]jobtree.FaultRecord{{Kind: kind.String(), Cause: "so", Since: time.Now()}})
			f.commitBy(0, coord.DeleteTree(f.job.Faults(f.ids[0])))
			f.commitBy(0, coord.CreateEphemeral(f.job.Faults(f.ids[0]), document))
			r := f.finds(doctor.Faulty)
			if found := r.Findings[0]; advice[found.Advice] != 0 || !strings.Contains(found.Cause, kind.String()) || found.Since.IsZero() {
				t.Errorf("%v has the advice of %v: %v", kind, advice[found.Advice], found)
			} else {
				advice[found.Advice] = kind
			}
		}
		f.commitBy(0, coord.DeleteTree(f.job.Faults(f.ids[0])))
		f.commitBy(0, coord.CreateEphemeral(f.job.Faults(f.ids[0]), []byte("faults: ?")))
		f.finds(doctor.DocumentUnreadable)
	})
}

// Findings that are about the same kind of thing differ in how bad they are.
func TestSeverities(t *testing.T) {
	for name, c := range map[string]struct {
		plant func(*fixture)
		kind  doctor.Kind
		want  doctor.Severity
	}{
		"one refuses": {func(f *fixture) { f.says(0, func(d *jobtree.SessionDocument) { d.Refused = f.config }) }, doctor.ConfigRefused, doctor.Warning},
		"all refuse": {func(f *fixture) {
			for n := range 2 {
				f.says(n, func(d *jobtree.SessionDocument) { d.Refused = f.config })
			}
		}, doctor.ConfigRefused, doctor.Critical},
		"an earlier revision": {func(f *fixture) {
			f.configure(func(c *job.Config) { c.Revision = 8 })
			f.says(0, func(d *jobtree.SessionDocument) { d.Revision = 7 })
		}, doctor.ConfigDiffers, doctor.Info},
		"a later revision": {func(f *fixture) {
			f.says(0, func(d *jobtree.SessionDocument) { d.Revision = 7 })
		}, doctor.ConfigDiffers, doctor.Warning},
		"no JVM member leads": {func(f *fixture) {
			f.isJVM(0)
			f.isJVM(1)
			f.commit(coord.DeleteTree(f.job.LeaderInstance()))
		}, doctor.NoLeader, doctor.Warning},
		"overlaps are left out": {func(f *fixture) {
			f.configure(func(c *job.Config) { c.Overlap = job.OverlapSkip })
			f.runs(0, 0, time.Now().Truncate(time.Minute).Add(-time.Minute))
		}, doctor.RunOvertaken, doctor.Info},
		"a pin in a broadcast job": {func(f *fixture) {
			f.configure(func(c *job.Config) { c.Broadcast, c.Failover = true, false })
			f.inForce(func(d *jobtree.ScheduleDocument) { d.Broadcast = true })
			f.commit(coord.Put(f.job.Pin(0), jobtree.EncodePin(jobtree.PinDocument{Label: "gpu", Strict: true})))
		}, doctor.PinUnmatched, doctor.Warning},
		"a pin of no item": {func(f *fixture) {
			f.commit(coord.Put(f.job.Pin(9), jobtree.EncodePin(jobtree.PinDocument{Label: "gpu", Strict: true})))
		}, doctor.PinUnmatched, doctor.Info},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inGoodHealth(t, func(f *fixture) {
				c.plant(f)
				for _, found := range f.examine().Findings {
					if found.Kind == c.kind && found.Severity == c.want {
						return
					}
				}
				t.Errorf("no %v %s: %v", c.want, c.kind, f.examine().Findings)
			})
		})
	}
}

// The ticks of a job without a time zone are judged only if one that has begun is a tick here, too.
func TestJobWithoutZone(t *testing.T) {
	inGoodHealth(t, func(f *fixture) {
		late := func(begun time.Duration) {
			for i := range 3 {
				f.commit(coord.Put(f.job.Fired(i), jobtree.EncodeFired(time.Now().Truncate(time.Minute).Add(begun))))
			}
		}
		f.configure(func(c *job.Config) { c.TimeZone = "" })
		late(-5 * time.Minute)
		f.finds(doctor.ItemOverdue)        // of two instances
		late(-5*time.Minute + time.Second) // of a zone that is a second off
		f.finds()
		f.configure(func(c *job.Config) { c.TimeZone = "UTC" })
		f.finds(doctor.ItemOverdue)
	})
}

// If only a disabled server has the label, the advice names it.
func TestLabelOfADisabledServer(t *testing.T) {
	inGoodHealth(t, func(f *fixture) {
		f.configure(func(c *job.Config) { c.Label = "gpu" })
		const named = `enable server "10.0.0.1", which has the label`
		if found := f.finds(doctor.LabelNobody).Findings[0]; strings.Contains(found.Advice, "enable server") {
			t.Errorf("nobody has the label: %s", found.Advice)
		}
		f.join(0, jobtree.SessionDocument{Protocol: jobtree.Protocol, Accepted: f.config}, "gpu")
		f.disable(0)
		for _, found := range f.examine().Findings {
			if found.Kind == doctor.LabelNobody && strings.HasPrefix(found.Advice, named) {
				return
			}
		}
		t.Errorf("no finding says %s: %v", named, f.examine().Findings)
	})
}
