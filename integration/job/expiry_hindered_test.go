package job_test

import (
	"errors"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// ends is a job of so many ticks, which is removed then. Nothing but its end makes it look.
func (c *cluster) ends(ticks int) job.Config {
	cfg := c.config()
	cfg.Expiry = job.Expiry{Ticks: ticks, Remove: true}
	cfg.ReconcileInterval = -1
	return cfg
}

// A job goes at its end by the store's clock, or the local one if that is later: soon, and without
// looking for it all the time.
func TestClocksAndTheEndOfAJob(t *testing.T) {
	for _, ahead := range []time.Duration{300 * time.Millisecond, 3 * time.Second, 8 * time.Second, -300 * time.Millisecond, -8 * time.Second} {
		for name, change := range map[string]func(*job.Config){
			"ticks": func(*job.Config) {},
			"one-off": func(c *job.Config) {
				c.Cron, c.Expiry = "", job.Expiry{At: time.Now().Add(3 * time.Second), Remove: true}
			},
		} {
			runInVirtualTime(t, name+" "+ahead.String(), func(t *testing.T, c *cluster, _ *memory.Store) {
				var clock setClock
				clock.set(ahead)
				cfg := c.ends(3)
				change(&cfg)
				begun := time.Now()
				m := c.join("10.0.0.1", cfg, nil, setup.Clock(clock.now))
				c.awaitRemoved(m)
				if took, most := time.Since(begun), 3100*time.Millisecond+max(0, -ahead); took > most {
					t.Errorf("it went after %v, want %v", took, most)
				}
			})
		}
	}
}

// Ticks that are not made up do not keep a job.
func TestEndWhileNobodyWasThere(t *testing.T) {
	for name, change := range map[string]func(*job.Config){
		"misfire is off":         func(c *job.Config) { c.Misfire = job.Off },
		"it was too long ago":    func(c *job.Config) { c.MisfireWindow = 10 * time.Second },
		"with jitter":            func(c *job.Config) { c.Jitter, c.Misfire = 500*time.Millisecond, job.Off },
		"without make-ups, SKIP": func(c *job.Config) { c.Overlap, c.Misfire = job.OverlapSkip, job.Off },
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			cfg := c.ends(10)
			change(&cfg)
			m := c.join("10.0.0.1", cfg, nil)
			c.awaitRuns("two ticks", 6, anything)
			m.leave()
			c.pass(time.Minute)
			n := len(c.record.find(anything))
			c.awaitRemoved(c.join("10.0.0.2", cfg, nil))
			if more := len(c.record.find(anything)) - n; more > 0 {
				t.Errorf("%d more runs\n%s", more, c.record)
			}
		})
	}
}

// A job whose items nobody may have does not go before that is said, and goes when somebody may.
func TestEndOfAJobThatNobodyMayRun(t *testing.T) {
	for name, prepare := range map[string]func(*cluster, *job.Config){
		"nobody has the label": func(_ *cluster, cfg *job.Config) { cfg.Label = "gpu" },
		"… of a broadcast job": func(_ *cluster, cfg *job.Config) { cfg.Label, cfg.Broadcast, cfg.Failover = "gpu", true, false },
		"an item is pinned": func(c *cluster, _ *job.Config) {
			c.commit(coord.Put(c.job.Pin(1), jobtree.EncodePin(jobtree.PinDocument{Label: "gpu", Strict: true})))
		},
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			cfg := c.ends(1)
			prepare(c, &cfg)
			a := c.join("10.0.0.1", cfg, nil)
			a.awaitFault(jobtype.FaultStarvation, "should have begun")
			c.pass(time.Hour)
			a.awaitFault(jobtype.FaultStarvation, "should have begun")
			b := c.dial("10.0.0.2")
			if err := b.schedule(t.Context(), cfg, nil, job.WithLabels("gpu")); err != nil && !errors.Is(err, job.ErrJobRemoved) { // which may be faster
				t.Fatal(err)
			}
			a.awaitDone() // what fences the registration of b may still be there
			if err := a.Err(); !errors.Is(err, job.ErrJobRemoved) {
				t.Errorf("it stopped with %v", err)
			}
		})
	}
}
