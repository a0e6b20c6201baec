package job_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// The log tells of each issue once, as long as JVM members are there and the configuration is the same.
func TestMixedIsTold(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		core, logs := observer.New(zap.InfoLevel)
		cfg := c.config()
		cfg.TimeZone, cfg.Label, cfg.Jitter, cfg.Threads = "UTC", "gpu", time.Millisecond, 0
		c.join("10.0.0.1", cfg, nil, job.WithLogger(zap.New(core)), job.WithLabels("gpu"))
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		told := func() string {
			counts := map[string]int{}
			for _, line := range logs.All() {
				if strings.HasPrefix(line.Message, "JVM members do something otherwise") {
					counts[fmt.Sprintf("%s %v", line.Level, line.ContextMap()["field"])]++
				}
			}
			return fmt.Sprint(counts)
		}
		c.pass(time.Minute)
		if got := told(); got != "map[]" {
			t.Errorf("told without JVM members: %s", got)
		}
		const jvm = "10.0.0.9@-@1234"
		c.commit(coord.CreateEphemeral(c.job.Instance(jvm), nil), coord.Put(c.job.Server("10.0.0.9"), []byte("ENABLED")))
		c.pass(time.Minute)
		if got, want := told(), "map[info props: schedule.jitter.milliseconds:1 warn label:1 warn timeZone:1]"; got != want {
			t.Errorf("told %s, want %s", got, want)
		}
		c.configure(func(cfg *job.Config) { cfg.TimeZone, cfg.Jitter = "GMT", 0 })
		c.pass(time.Minute)
		if got, want := told(), "map[info props: schedule.jitter.milliseconds:1 warn label:2 warn timeZone:1]"; got != want {
			t.Errorf("told %s, want %s", got, want)
		}
		c.commit(coord.Delete(c.job.Instance(jvm)))
		c.pass(time.Minute)
		c.commit(coord.CreateEphemeral(c.job.Instance(jvm), nil))
		c.pass(time.Minute)
		if got, want := told(), "map[info props: schedule.jitter.milliseconds:1 warn label:3 warn timeZone:1]"; got != want {
			t.Errorf("told %s, want %s", got, want)
		}
	})
}

// document2 is as elastic-job 2.1 writes it.
const document2 = `{"jobName":"settle","jobClass":"org.example.Settle","jobType":"SIMPLE","cron":"0 0 0 1 1 ?","shardingTotalCount":3}`

// Members of elastic-job 2.1 read no document that Go has written: those that are there are told of in the log, and so
// is who writes the document where they have been, because those that fail to start leave nothing.
func TestOldIsTold(t *testing.T) {
	const what = "members of elastic-job 2.1 cannot start any more"
	for name, tc := range map[string]struct {
		config, server string
		overwrite      bool
		want           string // who is told of
	}{
		"a tree without 2.1":                 {"", "ENABLED", false, ""},
		"servers of 2.1":                     {"", "", false, "10.0.0.9"},
		"a document of 2.1 that is replaced": {document2, "ENABLED", true, ""},
		"a document of 2.1 that stays":       {document2, "", false, "none"},
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			core, logs := observer.New(zap.WarnLevel)
			c.commit(coord.Put(c.job.Server("10.0.0.9"), []byte(tc.server)))
			if tc.config != "" {
				c.commit(coord.Put(c.job.Root(), nil), coord.Put(c.job.Config(), []byte(tc.config)))
			}
			cfg := c.config()
			cfg.Overwrite = tc.overwrite
			c.join("10.0.0.1", cfg, nil, job.WithLogger(zap.New(core)))
			told := logs.FilterMessageSnippet(what).All()
			isTold := tc.want != "none" && (tc.want != "" || tc.overwrite)
			if len(told) > 1 || (len(told) == 1) != isTold {
				t.Fatalf("told %d times: %v", len(told), told)
			}
			if isTold && !strings.Contains(fmt.Sprint(told[0].ContextMap()["servers of 2.1"]), tc.want) {
				t.Errorf("told %v", told[0].ContextMap())
			}
		})
	}
	runInVirtualTime(t, "members that are there", func(t *testing.T, c *cluster, _ *memory.Store) {
		core, logs := observer.New(zap.WarnLevel)
		c.join("10.0.0.1", c.config(), nil, job.WithLogger(zap.New(core)))
		const jvm = "10.0.0.9@-@1234"
		c.commit(coord.CreateEphemeral(c.job.Instance(jvm), nil), coord.Put(c.job.Server("10.0.0.9"), nil))
		c.pass(time.Minute)
		told := logs.FilterMessageSnippet("JVM members do something otherwise, with harm").All()
		if len(told) != 1 || told[0].ContextMap()["field"] != "config" || !strings.Contains(fmt.Sprint(told[0].ContextMap()["does"]), `of elastic-job 2.1 ("`+jvm+`") do not read`) {
			t.Errorf("told %v", told)
		}
	})
}

// A program that would replace a document of elastic-job 2.1 does not start while a member of 2.1 lives, which reads no
// other.
func TestOldMembersKeepTheirDocument(t *testing.T) {
	const jvm = "10.0.0.9@-@1234"
	for name, change := range map[string]func(*job.Config){
		"overwrite": func(cfg *job.Config) { cfg.Overwrite = true },
		"revision":  func(cfg *job.Config) { cfg.Revision = 1 },
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			c.commit(coord.Put(c.job.Root(), nil), coord.Put(c.job.Config(), []byte(document2)),
				coord.CreateEphemeral(c.job.Instance(jvm), nil), coord.Put(c.job.Server("10.0.0.9"), nil))
			cfg := c.config()
			change(&cfg)
			m := c.dial("10.0.0.1")
			if err := m.schedule(t.Context(), cfg, nil); !errors.Is(err, job.ErrOldMembers) || !strings.Contains(err.Error(), jvm) {
				t.Fatalf("got %v", err)
			}
			if got := string(c.state().Config.Value); got != document2 || len(c.state().Instances) > 1 {
				t.Errorf("the registry has %s and %d instances", got, len(c.state().Instances))
			}
			c.commit(coord.Delete(c.job.Instance(jvm)))
			c.mustSchedule(m, cfg, nil)
			c.await("the program's configuration", func(s *jobtree.State) bool { return string(s.Config.Value) != document2 })
		})
	}
}
