package job_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

func TestCronAndZoneChangeLive(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron = rarely
		cfg.TimeZone = "GMT+08:00"
		c.join("10.0.0.1", cfg, nil)
		c.join("10.0.0.2", cfg, nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		c.configure(func(cfg *job.Config) { cfg.Cron = "* * * * * ?" })
		e := c.awaitRuns("ticks of the new schedule", 3, anything)[0]
		if _, offset := e.ScheduledTime.Zone(); offset != 8*3600 {
			t.Errorf("scheduled time in a zone %d s off", offset)
		}
		c.configure(func(cfg *job.Config) { cfg.TimeZone = "America/New_York" })
		c.awaitRuns("ticks in the new zone", 2, func(e execution) bool {
			return e.ScheduledTime.Location().String() == "America/New_York"
		})
		c.check()
	})
}

func TestBrokenConfigurationLeavesTheLastGoodOneInForce(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		a := c.join("10.0.0.1", c.config(), nil)
		c.awaitRuns("a tick", 3, anything)
		for _, broken := range []string{"cron: 61 * * * * ?\njobName: settle\nshardingTotalCount: 3\n", "{", "jobName: other\ncron: '* * * * * ?'\nshardingTotalCount: 3\n", "jobName: settle\nshardingTotalCount: 3\n"} {
			c.commit(coord.Set(c.job.Config(), []byte(broken)))
			n := len(c.record.find(anything))
			c.awaitRuns("ticks with "+broken, n+6, anything)
			a.awaitStatus("a fault by "+broken, func(s job.Status) bool { return s.Fault() != nil })
		}
		cfg := c.config()
		cfg.ShardingTotalCount = 4
		document, err := cfg.Encode(nil)
		c.must(err)
		c.commit(coord.Set(c.job.Config(), document))
		c.awaitRuns("item 3 of the next good one", 1, of(3))
		a.awaitSound()
		c.check()
	})
}

func TestOverwrite(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		total := func() int {
			node, err := c.admin.Get(t.Context(), c.job.Config())
			c.must(err)
			cfg, err := jobtype.DecodeConfig(node.Value)
			c.must(err)
			return cfg.ShardingTotalCount
		}
		cfg := c.config()
		c.join("10.0.0.1", cfg, nil).leave()
		cfg.ShardingTotalCount = 5
		c.join("10.0.0.1", cfg, nil).leave()
		if got := total(); got != 3 {
			t.Errorf("without overwrite the total is %d, want the registry's 3", got)
		}
		cfg.Overwrite = true
		c.join("10.0.0.1", cfg, nil).leave()
		if got := total(); got != 5 {
			t.Errorf("with overwrite the total is %d, want 5", got)
		}
		const ofJVM = "jobExtraConfigurations:\n- type: RDB\n"
		node, err := c.admin.Get(t.Context(), c.job.Config())
		c.must(err)
		c.commit(coord.Set(c.job.Config(), append(node.Value, ofJVM...)))
		cfg.JobParameter = "new"
		c.join("10.0.0.1", cfg, nil).leave()
		if node, err = c.admin.Get(t.Context(), c.job.Config()); err != nil || !strings.Contains(string(node.Value), "type: RDB") || !strings.Contains(string(node.Value), "new") {
			t.Errorf("overwrite has left %s, %v; want the key of JVM members, too", node.Value, err)
		}
		c.commit(coord.Set(c.job.Config(), []byte("shardingTotalCount: 0\ncron: [")))
		m := c.dial("10.0.0.1")
		cfg.Overwrite = false
		if err := m.schedule(t.Context(), cfg, nil); !errors.Is(err, job.ErrInvalidConfig) {
			t.Errorf("over a configuration that cannot be read: got %v, want ErrInvalidConfig", err)
		}
		cfg.Overwrite = true
		if err := m.schedule(t.Context(), cfg, nil); err != nil {
			t.Errorf("overwriting a configuration that cannot be read: %v", err)
		}
		if got := total(); got != 5 {
			t.Errorf("the total is %d, want 5", got)
		}
	})
}

func TestConflictsAtTheStart(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		c.join("10.0.0.1", c.config(), nil, job.WithImplementation("com.acme.SettleJob"))
		m := c.dial("10.0.0.2")
		if err := m.schedule(t.Context(), c.config(), nil); !errors.Is(err, job.ErrImplementationConflict) || !strings.Contains(err.Error(), "com.acme.SettleJob") {
			t.Errorf("another implementation: got %v", err)
		}
		cfg := c.config()
		cfg.Cron = ""
		for _, cfg.Overwrite = range []bool{false, true} {
			err := m.schedule(t.Context(), cfg, nil, job.WithImplementation("com.acme.SettleJob"))
			if !errors.Is(err, job.ErrKindConflict) || !strings.Contains(err.Error(), `cron "" given, "* * * * * ?" in the registry`) {
				t.Errorf("another kind, overwrite %v: got %v", cfg.Overwrite, err)
			}
		}
		cfg = c.config()
		cfg.Strategy = "MAGIC"
		var field *job.FieldError
		if err := m.schedule(t.Context(), cfg, nil); !errors.As(err, &field) || field.Field != "jobShardingStrategyType" {
			t.Errorf("an unknown strategy: got %v", err)
		}
	})
}

// A configuration with the name of another job is refused: the scheduler would work in the tree
// of that job.
func TestConfigurationOfAnotherJobIsRefused(t *testing.T) {
	for name, opts := range map[string][]job.Option{
		"by default":     nil,
		"WithStartRetry": {job.WithStartRetry()},
		"WithStartFault": {job.WithStartFault()},
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			cfg := c.config()
			cfg.Revision = 1
			other := cfg
			other.Name = "another"
			document, err := other.Encode(nil)
			c.must(err)
			c.commit(coord.Create(c.job.Root(), []byte(cfg.Name)), coord.Create(c.job.Config(), document))

			m := c.dial("10.0.0.1")
			var field *job.FieldError
			err = m.schedule(t.Context(), cfg, nil, opts...)
			if !errors.As(err, &field) || field.Field != "jobName" || !errors.Is(err, job.ErrInvalidConfig) {
				t.Fatalf("got %v, want an error about jobName", err)
			}
			if text := err.Error(); !strings.Contains(text, `"another"`) || !strings.Contains(text, `"settle" is allowed`) {
				t.Errorf("%s does not name both jobs", text)
			}
			cfg.Overwrite = true
			if err := m.schedule(t.Context(), cfg, nil); err != nil {
				t.Errorf("overwriting it: %v", err)
			}
			if got := c.inRegistry().Name; got != cfg.Name {
				t.Errorf("the name in the registry is %q", got)
			}
		})
	}
}
