package prom_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/prom"
)

// The alerts are tested by promtool on series that real schedulers have made, so that rules and
// metrics cannot diverge: each case is a history in virtual time, with a scrape every 30 s if it says nothing else.

const rulesFile = "../../deploy/prometheus/rules.yaml"

// recording is what Prometheus has scraped.
type recording struct {
	f      *fleet
	step   time.Duration
	begun  time.Time
	count  int
	wanted *regexp.Regexp // names of metrics
	series map[string][]float64
	fleet  []*process
}

// record scrapes the processes while time goes on.
func (r *recording) record(d time.Duration) {
	r.f.t.Helper()
	for range int(d / r.step) {
		pass(r.step)
		for _, p := range r.fleet {
			if p.gone {
				continue
			}
			for _, s := range p.scrape() {
				if r.wanted.MatchString(s.metric) {
					r.put(s, p.name)
				}
			}
		}
		r.count++
	}
}

// put adds a sample of a process. Prometheus tests begin at the time 0.
func (r *recording) put(s sample, instance string) {
	if strings.HasSuffix(s.metric, "_timestamp_seconds") && s.value != 0 {
		s.value -= float64(r.begun.Unix())
	}
	labels := strings.TrimSuffix(strings.TrimPrefix(s.labels, "{"), "}")
	name := fmt.Sprintf("%s{%s}", s.metric, strings.Trim(labels+fmt.Sprintf(",instance=%q,job=\"workers\"", instance), ","))
	values := r.series[name]
	for len(values) <= r.count { // the first scrape comes after a step
		values = append(values, math.NaN())
	}
	r.series[name] = append(values, s.value)
}

// process adds a process that is scraped from now on.
func (r *recording) process(name string, opts ...job.Option) *process {
	r.f.t.Helper()
	p := r.f.process(name, prom.Options{Namespace: "billing"}, opts...)
	r.fleet = append(r.fleet, p)
	return p
}

// each changes the values of the series whose names match, for what real schedulers do not do.
func (r *recording) each(pattern string, change func(i int, value float64) float64) {
	r.f.t.Helper()
	found := false
	for name, values := range r.series {
		if regexp.MustCompile(pattern).MatchString(name) {
			found = true
			for i := range values {
				values[i] = change(i, values[i])
			}
		}
	}
	if !found {
		r.f.t.Errorf("no series matches %s", pattern)
	}
}

// values writes values as promtool wants them. A series that ends is stale then.
func (r *recording) values(values []float64) string {
	var words []string
	for len(values) <= r.count {
		values = append(values, math.NaN())
	}
	was := math.NaN()
	for i := 0; i < len(values); {
		v, n := values[i], 1
		for i+n < len(values) && (values[i+n] == v || math.IsNaN(v) && math.IsNaN(values[i+n])) {
			n++
		}
		i += n
		text := strconv.FormatFloat(v, 'f', -1, 64)
		switch {
		case math.IsNaN(v) && !math.IsNaN(was):
			words = append(words, "stale")
			if n > 1 {
				words = append(words, fmt.Sprintf("_x%d", n-1))
			}
		case math.IsNaN(v):
			words = append(words, fmt.Sprintf("_x%d", n))
		case n > 1:
			words = append(words, fmt.Sprintf("%s+0x%d", text, n-1))
		default:
			words = append(words, text)
		}
		was = v
	}
	return strings.Join(words, " ")
}

// unit writes the test of the recording: these alerts have fired at some time, and no others.
func (r *recording) unit(name string, want []string, by time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  - name: %q\n    interval: %s\n    input_series:\n", name, r.step)
	for _, series := range slices.Sorted(mapsKeys(r.series)) {
		fmt.Fprintf(&b, "      - series: '%s'\n        values: '%s'\n", series, r.values(r.series[series]))
	}
	b.WriteString("    promql_expr_test:\n")
	fired := func(at time.Duration) {
		fmt.Fprintf(&b, "      - expr: group by (alertname, job_name) (max_over_time(ALERTS{alertstate=\"firing\"}[%s]))\n        eval_time: %s\n        exp_samples:\n", at, at)
		for _, alert := range want {
			alert, job, _ := strings.Cut(alert, " ")
			labels := fmt.Sprintf("alertname=%q", alert)
			if job != "" {
				labels += fmt.Sprintf(",job_name=%q", job)
			}
			fmt.Fprintf(&b, "          - labels: '{%s}'\n            value: 1\n", labels)
		}
	}
	fired(time.Duration(r.count) * r.step)
	if by > 0 {
		fired(by)
	}
	return b.String()
}

func mapsKeys(m map[string][]float64) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func fails(context.Context, job.ShardingContext) error { return errors.New("no money") }

// histories are what happens, and the alerts that fire for it: "ElasticJobFails settle".
var histories = []struct {
	name   string
	step   time.Duration
	happen func(*testing.T, *fleet, *recording)
	alerts []string
	by     time.Duration // when they fire at the latest, if that is said
}{
	{name: "healthy: every second", happen: func(t *testing.T, f *fleet, r *recording) {
		for _, name := range []string{"a", "b"} {
			r.process(name).schedule(every("settle", "* * * * * ?"), lasts(300*time.Millisecond))
		}
		r.record(20 * time.Minute)
	}},
	{name: "healthy: daily", step: 2 * time.Minute, happen: func(t *testing.T, f *fleet, r *recording) {
		for _, name := range []string{"a", "b"} {
			r.process(name).schedule(every("report", "0 0 3 * * ?"), lasts(20*time.Second))
		}
		r.record(28 * time.Hour)
	}},
	{name: "healthy: long runs", happen: func(t *testing.T, f *fleet, r *recording) {
		r.process("a").schedule(every("report", "0 0/20 * * * ?"), lasts(18*time.Minute))
		r.record(time.Hour)
	}},
	{name: "healthy: one-off", happen: func(t *testing.T, f *fleet, r *recording) {
		a := r.process("a")
		s := a.schedule(every("rebuild", ""), succeed)
		r.record(10 * time.Minute)
		if _, err := s.Trigger(t.Context(), job.TriggerRequest{}); err != nil {
			t.Error(err)
		}
		r.record(10 * time.Minute)
		a.shutdown()
		r.record(20 * time.Minute)
	}},
	{name: "healthy: paused", happen: func(t *testing.T, f *fleet, r *recording) {
		a := r.process("a")
		a.schedule(every("settle", "0 * * * * ?"), succeed)
		r.record(5 * time.Minute)
		if _, err := f.ops().Job("settle").Pause(t.Context(), ops.PauseRequest{Why: "test"}); err != nil {
			t.Error(err)
		}
		r.record(30 * time.Minute)
		a.shutdown()
		r.record(20 * time.Minute)
	}},
	{name: "healthy: expired", happen: func(t *testing.T, f *fleet, r *recording) {
		c := every("settle", "0 * * * * ?")
		c.Expiry.Ticks = 5
		gone := every("gone", "0 * * * * ?")
		gone.Expiry = job.Expiry{Ticks: 5, Remove: true}
		a := r.process("a")
		a.schedule(c, succeed)
		a.schedule(gone, succeed)
		r.record(30 * time.Minute)
		a.shutdown()
		r.record(20 * time.Minute)
	}},
	{name: "healthy: rolling deployments", happen: func(t *testing.T, f *fleet, r *recording) {
		var old []*process
		for i := range 2 {
			p := r.process(fmt.Sprintf("old-%d", i))
			p.schedule(every("settle", "0/10 * * * * ?"), lasts(time.Second))
			p.schedule(every("report", "0 20 * * * ?"), lasts(time.Second))
			old = append(old, p)
		}
		for version := range 3 {
			r.record(10 * time.Minute)
			for i := range old {
				p := r.process(fmt.Sprintf("v%d-%d", version, i))
				p.schedule(every("settle", "0/10 * * * * ?"), lasts(time.Second))
				p.schedule(every("report", "0 20 * * * ?"), lasts(time.Second))
				r.record(30 * time.Second)
				old[i].shutdown()
				old[i] = p
				r.record(30 * time.Second)
			}
		}
		r.record(40 * time.Minute)
	}},
	{name: "healthy: removed", happen: func(t *testing.T, f *fleet, r *recording) {
		old := r.process("old")
		old.schedule(every("settle", "0 * * * * ?"), succeed)
		r.record(5 * time.Minute)
		a := r.process("a")
		a.schedule(every("settle", "0 * * * * ?"), succeed)
		r.record(5 * time.Minute)
		old.shutdown()
		r.record(5 * time.Minute)
		if err := f.ops().Job("settle").Remove(t.Context(), ops.RemoveRequest{Why: "test"}); err != nil {
			t.Error(err)
		}
		r.record(30 * time.Minute)
		a.shutdown()
		r.record(30 * time.Minute)
	}},
	{name: "healthy: jobs of runners come and go", happen: func(t *testing.T, f *fleet, r *recording) {
		for _, name := range []string{"a", "b"} {
			r.fleet = append(r.fleet, f.runner(name, prom.Options{Namespace: "billing"}, map[string]job.Handler{"settle": lasts(time.Second)}))
		}
		o := f.ops()
		for range 3 {
			if err := o.Create(t.Context(), ops.CreateRequest{Config: every("settle", "0 0/3 * * * ?")}); err != nil {
				t.Error(err)
			}
			r.record(10 * time.Minute)
			if err := o.Job("settle").Remove(t.Context(), ops.RemoveRequest{}); err != nil {
				t.Error(err)
			}
			r.record(10 * time.Minute)
		}
	}},
	{name: "healthy: one of two dies, and another comes", happen: func(t *testing.T, f *fleet, r *recording) {
		start := func(name string) *process {
			p := r.process(name)
			for job, cron := range map[string]string{"settle": "0/10 * * * * ?", "report": "0 0/10 * * * ?"} {
				c := every(job, cron)
				c.Failover = true
				p.schedule(c, lasts(5*time.Second))
			}
			return p
		}
		a := start("a")
		start("b")
		r.record(10*time.Minute + 30*time.Second)
		a.die()
		r.record(20 * time.Minute)
		start("c")
		r.record(10 * time.Minute)
	}},
	{name: "healthy: jitter", happen: func(t *testing.T, f *fleet, r *recording) {
		c := every("settle", "0 0/10 * * * ?")
		c.Jitter, c.ShardingTotalCount = 5*time.Minute, 10
		r.process("a").schedule(c, lasts(time.Second))
		r.record(time.Hour)
	}},
	{name: "healthy: disabled by an operator", happen: func(t *testing.T, f *fleet, r *recording) {
		for _, name := range []string{"a", "b"} {
			r.process(name).schedule(every("settle", "0 * * * * ?"), succeed)
		}
		r.record(5 * time.Minute)
		if err := f.ops().Job("settle").DisableItems(t.Context(), 0); err != nil {
			t.Error(err)
		}
		r.record(20 * time.Minute)
		if err := f.ops().Job("settle").DisableServers(t.Context(), "a", "b"); err != nil {
			t.Error(err)
		}
		r.record(20 * time.Minute)
	}},
	{name: "healthy: disabled by an operator, with no record of what runs", happen: func(t *testing.T, f *fleet, r *recording) {
		c := every("settle", "0 * * * * ?")
		c.MonitorExecution = job.Off
		for _, name := range []string{"a", "b"} {
			r.process(name).schedule(c, succeed)
		}
		r.record(5 * time.Minute)
		if err := f.ops().Job("settle").DisableServers(t.Context(), "a", "b"); err != nil {
			t.Error(err)
		}
		r.record(30 * time.Minute)
	}},
	{name: "healthy: jitter of few items", happen: func(t *testing.T, f *fleet, r *recording) {
		a := r.process("a")
		for i := range 5 {
			c := every(fmt.Sprint("settle-", i), "0 0 * * * ?")
			c.Jitter, c.ShardingTotalCount = 14*time.Minute, 1
			a.schedule(c, lasts(time.Second))
		}
		r.record(3 * time.Hour)
	}},
	{name: "healthy: a process runs the tick before anybody has scraped it", happen: func(t *testing.T, f *fleet, r *recording) {
		c := every("settle", "0 0/20 * * * ?")
		c.ShardingTotalCount = 1
		r.process("a").schedule(c, succeed)
		r.record(19*time.Minute + 30*time.Second)
		pass(20 * time.Second)
		r.process("b").schedule(c, succeed)
		if err := f.ops().Job("settle").DisableServers(t.Context(), "a"); err != nil {
			t.Error(err)
		}
		pass(20 * time.Second)
		r.record(15 * time.Minute)
	}},
	{name: "an item hangs", happen: func(t *testing.T, f *fleet, r *recording) {
		for _, name := range []string{"a", "b"} {
			r.process(name).schedule(every("settle", "0 * * * * ?"), func(ctx context.Context, sc job.ShardingContext) error {
				if sc.Item == 0 && time.Since(r.begun) > 5*time.Minute {
					<-ctx.Done()
				}
				return nil
			})
		}
		r.record(30 * time.Minute)
	}, alerts: []string{"ElasticJobStarves settle"}, by: 8*time.Minute + 30*time.Second}, // its tick was that of 6:00, the next one that of 7:00
	{name: "all workers die", happen: func(t *testing.T, f *fleet, r *recording) {
		for _, name := range []string{"a", "b"} {
			p := r.process(name)
			p.schedule(every("settle", "0 0/10 * * * ?"), succeed)
			p.schedule(every("weekly", "0 0 3 ? * SUN"), succeed)
		}
		r.record(15 * time.Minute)
		for _, p := range r.fleet {
			p.die()
		}
		r.record(30 * time.Minute)
	}, alerts: []string{"ElasticJobTickMissed settle", "ElasticJobNobodyServes settle", "ElasticJobNobodyServes weekly"}, by: 24 * time.Minute}, // the tick was that of 20:00
	{name: "all are drained", happen: func(t *testing.T, f *fleet, r *recording) {
		a := r.process("a")
		a.schedule(every("settle", "0 0/10 * * * ?"), succeed)
		r.record(15 * time.Minute)
		a.shutdown()
		r.record(30 * time.Minute)
	}, alerts: []string{"ElasticJobTickMissed settle", "ElasticJobNobodyServes settle"}},
	{name: "the store is away", happen: func(t *testing.T, f *fleet, r *recording) {
		for _, name := range []string{"a", "b"} {
			r.process(name).schedule(every("settle", "0 * * * * ?"), succeed)
		}
		r.record(5 * time.Minute)
		f.store.Down()
		r.record(10 * time.Minute)
		f.store.Up()
		r.record(5 * time.Minute)
	}, alerts: []string{"ElasticJobTickMissed settle", "ElasticJobNobodyServes settle", "ElasticJobFault settle", "ElasticJobSessionNotConnected"}},
	{name: "a tick is skipped", happen: func(t *testing.T, f *fleet, r *recording) {
		c := every("settle", "0 * * * * ?")
		c.Overlap = job.OverlapSkip
		r.process("a").schedule(c, func(ctx context.Context, sc job.ShardingContext) error {
			if time.Since(r.begun).Truncate(time.Minute) == 5*time.Minute {
				return lasts(70*time.Second)(ctx, sc)
			}
			return nil
		})
		r.record(30 * time.Minute)
	}, alerts: []string{"ElasticJobTickSkipped settle"}},
	{name: "nobody leads", happen: func(t *testing.T, f *fleet, r *recording) {
		r.process("a").schedule(every("settle", "0 * * * * ?"), succeed)
		r.record(20 * time.Minute)
		r.each("^elasticjob_leader{", func(i int, v float64) float64 { return v * float64(one(i < 20)) })
	}, alerts: []string{"ElasticJobLeaderless settle"}},
	{name: "nothing starts, and no scheduler knows", happen: func(t *testing.T, f *fleet, r *recording) {
		r.process("a").schedule(every("settle", "0 0/10 * * * ?"), succeed)
		r.record(time.Hour)
		r.each("^elasticjob_executions_started_total{", func(i int, v float64) float64 { return min(v, 0) })
	}, alerts: []string{"ElasticJobDidNotRun settle"}},
	{name: "executions fail", step: time.Minute, happen: func(t *testing.T, f *fleet, r *recording) {
		a := r.process("a")
		a.schedule(every("report", "0 0 3 * * ?"), fails)
		a.schedule(every("healthy", "0 * * * * ?"), succeed)
		r.record(5 * time.Hour)
	}, alerts: []string{"ElasticJobFails report"}},
	{name: "executions start late", happen: func(t *testing.T, f *fleet, r *recording) {
		c := every("settle", "0 0/10 * * * ?")
		c.Threads = 1
		r.process("a").schedule(c, lasts(15*time.Second))
		r.record(time.Hour)
	}, alerts: []string{"ElasticJobLate settle"}},
	{name: "the clock is wrong", happen: func(t *testing.T, f *fleet, r *recording) {
		r.process("a").schedule(every("settle", "0 0/10 * * * ?"), succeed)
		r.record(20 * time.Minute)
		r.each("^elasticjob_clock_ahead_seconds{", func(i int, v float64) float64 { return v - 4 })
	}, alerts: []string{"ElasticJobClockOff"}},
	{name: "the history has gaps, and so have metrics", happen: func(t *testing.T, f *fleet, r *recording) {
		a := r.process("a")
		a.metrics.WatchTrace(&leakyRecorder{FailingSince: time.Now().Add(time.Minute)})
		a.metrics.WatchAlerts(new(deadReceiver))
		b := r.process("b")
		b.schedule(every("settle", "0 0/10 * * * ?"), succeed)
		r.record(20 * time.Minute)
		r.each(`^elasticjob_events_missed_total{.*instance="b"`, func(i int, v float64) float64 { return float64(i) })
	}, alerts: []string{"ElasticJobTraceDrops", "ElasticJobTraceFails", "ElasticJobAlertsUnsent", "ElasticJobMetricsIncomplete"}},
}

// leakyRecorder has dropped more whenever somebody asks.
type leakyRecorder trace.Stats

func (r *leakyRecorder) Stats() trace.Stats {
	r.Overflowed.Events++
	return trace.Stats(*r)
}

// deadReceiver has given up more messages whenever somebody asks.
type deadReceiver struct{ failed int }

func (d *deadReceiver) Waiting() int { return 1 }
func (d *deadReceiver) Sent() int    { return 0 }
func (d *deadReceiver) Failed() int  { d.failed++; return d.failed }

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

func TestRules(t *testing.T) {
	promtool := find(t, "promtool")
	rules, err := os.ReadFile(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	wanted := regexp.MustCompile("^(" + strings.Join(metricNames(string(rules)), "|") + ")$")
	absolute, err := filepath.Abs(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	untested := string(rules)
	for _, h := range histories {
		for _, alert := range h.alerts {
			name, _, _ := strings.Cut(alert, " ")
			untested = strings.ReplaceAll(untested, "- alert: "+name+"\n", "")
		}
	}
	if i := strings.Index(untested, "- alert: "); i >= 0 {
		line, _, _ := strings.Cut(untested[i:], "\n")
		t.Errorf("no history fires %q", line)
	}
	for _, h := range histories {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			var unit string
			step := h.step
			if step == 0 {
				step = 30 * time.Second
			}
			inFleet(t, func(t *testing.T, f *fleet) {
				r := &recording{f: f, step: step, begun: time.Now(), wanted: wanted, series: map[string][]float64{}}
				h.happen(t, f, r)
				unit = r.unit(h.name, h.alerts, h.by)
			})
			file := filepath.Join(t.TempDir(), "tests.yaml")
			text := fmt.Sprintf("rule_files: [%q]\nevaluation_interval: %s\ntests:\n%s", absolute, step, unit)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.CommandContext(t.Context(), promtool, "test", "rules", file).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// metricNames are the metrics that a text names.
func metricNames(text string) []string {
	names := regexp.MustCompile(`\belasticjob_[a-z_]+`).FindAllString(text, -1)
	slices.Sort(names)
	return slices.Compact(names)
}

// find finds a program; without it the test is skipped, unless REQUIRE_PROMTOOL is set.
func find(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	switch {
	case err == nil:
	case os.Getenv("REQUIRE_PROMTOOL") != "":
		t.Fatal(err)
	default:
		t.Skip(err)
	}
	return path
}
