package job_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

const (
	programDiffers  = "the registry's configuration is in force, and this program's differs"
	programReplaces = "this program's configuration replaces the registry's"
)

// inRegistry returns the configuration in the registry.
func (c *cluster) inRegistry() job.Config {
	c.Helper()
	node, err := c.admin.Get(c.Context(), c.job.Config())
	c.must(err)
	cfg, err := jobtype.DecodeConfig(node.Value)
	c.must(err)
	return cfg
}

// told returns a field of a log line as text, with a line for each of several values.
func told(line map[string]any, key string) string {
	list, ok := line[key].([]any)
	if !ok {
		return fmt.Sprint(line[key])
	}
	var b strings.Builder
	for _, v := range list {
		fmt.Fprintln(&b, v)
	}
	return b.String()
}

// If the configuration of a program is not in force, the log says so in one short line.
func TestStartTellsWhatDiffersFromTheRegistry(t *testing.T) {
	manyProps := map[string]string{}
	for i := range 1000 {
		manyProps[fmt.Sprint(i)] = "secret"
	}
	for name, tc := range map[string]struct {
		change func(*job.Config)
		says   []string // parts of the line; nil: there is no line
	}{
		"the same":           {func(*job.Config) {}, nil},
		"written otherwise":  {func(c *job.Config) { c.Misfire, c.Strategy = job.On, "AVG_ALLOCATION" }, nil},
		"a larger revision":  {func(c *job.Config) { c.Revision, c.Cron = 7, rarely }, nil},
		"cron and total":     {func(c *job.Config) { c.Cron, c.ShardingTotalCount = rarely, 5 }, []string{"shardingTotalCount: \"5\" in code, \"3\" in the registry\ncron: \"" + rarely + `" in code, "* * * * * ?" in the registry`}},
		"a property of ours": {func(c *job.Config) { c.Timeout = time.Minute }, []string{"props: execution.timeout.seconds"}},
		"properties": {func(c *job.Config) { c.Props = map[string]string{"new": "secret", "both": "secret"} },
			[]string{`props: "new": a value in code, none in the registry`, `props: "old": none in code, a value in the registry`, `props: "both": a value in code, another value in the registry`}},
		"many properties": {func(c *job.Config) { c.Props = manyProps }, []string{"and 982 more"}},
		"a long text":     {func(c *job.Config) { c.JobParameter = strings.Repeat("x", 100_000) }, []string{"jobParameter"}},
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			cfg := c.config()
			cfg.Props = map[string]string{"old": "secret", "both": "other secret"}
			c.join("10.0.0.1", cfg, nil)
			tc.change(&cfg)
			logged, logs := newLogbook()
			c.join("10.0.0.2", cfg, nil, logs)
			lines := logged.says(programDiffers)
			if len(tc.says) == 0 {
				if len(lines) > 0 {
					t.Errorf("it says %v", lines)
				}
				return
			}
			if len(lines) != 1 {
				t.Fatalf("%d lines say that it differs: %q", len(lines), logged.messages())
			}
			fields := told(lines[0], "fields")
			for _, want := range tc.says {
				if !strings.Contains(fields, want) {
					t.Errorf("%s\ndoes not say %s", fields, want)
				}
			}
			if all := fmt.Sprint(lines[0]); strings.Contains(all, "secret") || len(all) > 2500 || !strings.Contains(all, "set its Config.Revision to 1") || !strings.Contains(all, "if it is another program") {
				t.Errorf("%d bytes: %s", len(all), all)
			}
			if level := logged.FilterMessage(programDiffers).All()[0].Level; level.String() != "warn" {
				t.Errorf("it says so at the level %v", level)
			}
		})
	}
}

// The program's configuration replaces an older one once. Programs with the same or an older
// revision change nothing, so what an operator changes stays until the next revision.
func TestLargerRevisionWins(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		// start starts a program with a revision and a total, and returns its log.
		start := func(revision, total int) logbook {
			t.Helper()
			cfg := c.config()
			cfg.Revision, cfg.ShardingTotalCount = revision, total
			logged, logs := newLogbook()
			c.join("10.0.0.1", cfg, nil, logs).leave()
			return logged
		}
		expect := func(revision, total int) {
			t.Helper()
			if got := c.inRegistry(); got.Revision != revision || got.ShardingTotalCount != total {
				t.Errorf("the registry has revision %d and a total of %d, want %d and %d", got.Revision, got.ShardingTotalCount, revision, total)
			}
		}
		c.join("10.0.0.1", c.config(), nil).leave()
		expect(0, 3)
		if lines := start(2, 4).says(programReplaces); len(lines) != 1 || !strings.Contains(told(lines[0], "fields"), `shardingTotalCount: "3" → "4"`) {
			t.Errorf("that it replaces the registry's is told as %v", lines)
		}
		expect(2, 4)
		for _, revision := range []int{1, 2} { // a restart of the old deployment; a change without a new revision
			lines := start(revision, 5).says(programDiffers)
			if len(lines) != 1 || !strings.Contains(told(lines[0], "do"), "Revision to 3") || told(lines[0], "registry's revision") != "2" || told(lines[0], "revision") != fmt.Sprint(revision) {
				t.Errorf("revision %d is told as %v", revision, lines)
			}
			expect(2, 4)
		}
		c.configure(func(cfg *job.Config) { cfg.ShardingTotalCount = 6 })
		start(2, 4)
		expect(2, 6)
		start(3, 7)
		expect(3, 7)
		if logged := start(3, 7); len(logged.says(programReplaces)) > 0 || len(logged.says(programDiffers)) > 0 {
			t.Errorf("the same again is told: %q", logged.messages())
		}
	})
}

// A newer configuration replaces one that has faults, unless that may be newer still. The
// kind of a job does not change.
func TestLargerRevisionReplacesWhatHasFaults(t *testing.T) {
	for name, tc := range map[string]struct {
		document string
		err      error // the start's; nil: the configuration is replaced
	}{
		"a fault in a field":           {"jobName: settle\nshardingTotalCount: 0\ncron: often\nprops: {revision: '4'}\n", nil},
		"a name that nobody knows":     {"jobName: settle\nshardingTotalCount: 1\ncron: '* * * * * ?'\njobErrorHandlerType: GONE\n", nil},
		"newer, with a fault":          {"jobName: settle\nshardingTotalCount: 0\ncron: '* * * * * ?'\nprops: {revision: '6'}\n", job.ErrInvalidConfig},
		"a revision with a fault":      {"jobName: settle\nshardingTotalCount: 1\ncron: '* * * * * ?'\nprops: {revision: x}\n", job.ErrInvalidConfig},
		"properties with a fault":      {"jobName: settle\nshardingTotalCount: 1\ncron: '* * * * * ?'\nprops: [revision]\n", job.ErrInvalidConfig},
		"not a document":               {"{", job.ErrInvalidConfig},
		"a job without a schedule":     {"jobName: settle\nshardingTotalCount: 1\n", job.ErrKindConflict},
		"a revision with a late fault": {"jobName: /\nshardingTotalCount: 0\nmisfire: x\nfailover: x\ndisabled: x\noverwrite: x\nstaticSharding: x\nmonitorExecution: x\nmaxTimeDiffSeconds: x\nreconcileIntervalMinutes: x\nprops: {retry.attempts: x, revision: x}\n", job.ErrInvalidConfig},
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			c.commit(coord.Put(c.job.Config(), []byte(tc.document)))
			cfg := c.config()
			cfg.Revision = 5
			err := c.dial("10.0.0.1").schedule(t.Context(), cfg, nil)
			if !errors.Is(err, tc.err) {
				t.Fatalf("got %v, want %v", err, tc.err)
			}
			if tc.err == nil && !c.inRegistry().Equal(cfg) {
				t.Errorf("the registry has %+v", c.inRegistry())
			}
		})
	}
}

// If processes start at the same time, the newest configuration wins, whoever writes last.
func TestNewestOfManyWins(t *testing.T) {
	const newest = 4
	for i := range 2 * newest {
		late, known := i%newest+1, i >= newest
		runInVirtualTime(t, fmt.Sprintf("revision %d is late, job is known: %t", late, known), func(t *testing.T, c *cluster, s *memory.Store) {
			if known {
				c.join("10.0.0.9", c.config(), nil)
			}
			slow := s.Inject(memory.Fault{Registry: fmt.Sprint(late), Method: memory.Commit, Path: c.job.Config(), Delay: time.Second, Times: 1})
			var starts sync.WaitGroup
			for revision := 1; revision <= newest; revision++ {
				name := fmt.Sprint(revision)
				m := &member{c: c, ip: "10.0.0." + name}
				reg, err := s.Dial(t.Context(), memory.Config{Namespace: c.namespace, SessionTimeout: c.timeout, Name: name})
				c.must(err)
				m.reg, m.link = reg, reg.Link()
				t.Cleanup(m.end)
				cfg := c.config()
				cfg.Revision, cfg.ShardingTotalCount = revision, 10*revision
				starts.Go(func() {
					if err := m.schedule(t.Context(), cfg, nil); err != nil {
						t.Errorf("revision %s: %v", name, err)
					}
				})
			}
			starts.Wait()
			if got := c.inRegistry(); got.Revision != newest || got.ShardingTotalCount != 10*newest {
				t.Errorf("revision %d is in force, with a total of %d", got.Revision, got.ShardingTotalCount)
			}
			if slow.Hits() == 0 {
				t.Error("it was not late")
			}
		})
	}
}
