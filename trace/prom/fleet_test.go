package prom_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/trace/prom"
)

// fleet are processes with metrics, on a store of their own, in virtual time.
type fleet struct {
	t     *testing.T
	store *memory.Store
}

// inFleet runs a test in virtual time.
func inFleet(t *testing.T, test func(*testing.T, *fleet)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &fleet{t: t, store: memory.NewStore(memory.Options{})}
		t.Cleanup(f.store.Close)
		test(t, f)
	})
}

// process is one that serves jobs and is scraped.
type process struct {
	f       *fleet
	name    string
	reg     *memory.Registry
	node    *job.Node
	serving sync.WaitGroup // of a runner
	metrics *prom.Metrics
	gather  prometheus.Gatherer
	gone    bool
}

func (f *fleet) process(name string, o prom.Options, opts ...job.Option) *process {
	f.t.Helper()
	p := f.dial(name, o)
	n, err := job.NewNode(p.metrics.Registry(p.reg), job.NodeConfig{Options: append([]job.Option{job.WithIP(name), p.metrics.Option()}, opts...)})
	if err != nil {
		f.t.Fatal(err)
	}
	p.node = n
	p.metrics.Watch(n)
	return p
}

// runner is a process that serves the jobs that others create.
func (f *fleet) runner(name string, o prom.Options, handlers map[string]job.Handler) *process {
	f.t.Helper()
	p := f.dial(name, o)
	r, err := job.NewRunner(p.metrics.Registry(p.reg), job.RunnerConfig{
		NodeConfig: job.NodeConfig{Options: []job.Option{job.WithIP(name), p.metrics.Option()}}, Handlers: handlers,
	})
	if err != nil {
		f.t.Fatal(err)
	}
	p.node = r.Node
	p.metrics.Watch(r.Node)
	p.serving.Go(func() {
		if err := r.Run(context.Background()); err != nil {
			f.t.Error(err)
		}
	})
	return p
}

// dial returns a process that has no node yet.
func (f *fleet) dial(name string, o prom.Options) *process {
	f.t.Helper()
	reg, err := f.store.Dial(context.Background(), memory.Config{Namespace: "fleet", Name: name, SessionTimeout: 10 * time.Second})
	if err != nil {
		f.t.Fatal(err)
	}
	m, err := prom.New(o)
	if err != nil {
		f.t.Fatal(err)
	}
	registerer := prometheus.NewPedanticRegistry()
	if err := registerer.Register(m); err != nil {
		f.t.Fatal(err)
	}
	p := &process{f: f, name: name, reg: reg, metrics: m, gather: registerer}
	f.t.Cleanup(p.shutdown)
	return p
}

func (p *process) schedule(c job.Config, h job.HandlerFunc, opts ...job.Option) *job.Scheduler {
	p.f.t.Helper()
	s, err := p.node.Schedule(context.Background(), c, h, append(opts, p.metrics.Option())...) // it has that once, although its node has it
	if err != nil {
		p.f.t.Fatalf("%s: %v", p.name, err)
	}
	return s
}

// shutdown ends the process in order.
func (p *process) shutdown() {
	if p.gone {
		return
	}
	p.gone = true
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if p.node != nil {
		_ = p.node.Shutdown(ctx) // with the errors of handlers that the test has made
	}
	p.serving.Wait()
	_ = p.reg.Close(ctx) // the store may be away
}

// die ends the process as a crash does: the store hears nothing more of it.
func (p *process) die() {
	p.gone = true
	p.reg.Link().Cut()
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_ = p.reg.Close(ended)     // it reaches nobody
	_ = p.node.Shutdown(ended) // nor does this
}

func (f *fleet) ops() *ops.Ops {
	f.t.Helper()
	reg, err := f.store.Dial(context.Background(), memory.Config{Namespace: "fleet", Name: "operator"})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = reg.Close(context.Background()) }) // nobody needs its session any more
	return ops.New(reg).By("test")
}

// pass lets time go on.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// sample is a value with the name and the labels of its series: up{instance="a"}.
type sample struct {
	metric, labels string
	value          float64
}

func (s sample) String() string { return s.metric + s.labels }

// scrape returns all samples of a process.
func (p *process) scrape() (list []sample) {
	p.f.t.Helper()
	families, err := p.gather.Gather()
	if err != nil {
		p.f.t.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.Metric {
			list = append(list, samplesOf(family, m)...)
		}
	}
	return list
}

func samplesOf(family *dto.MetricFamily, m *dto.Metric) (list []sample) {
	add := func(suffix string, value float64, more ...string) {
		var labels []string
		for _, l := range m.Label {
			if l.GetValue() != "" { // as Prometheus does
				labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
			}
		}
		labels = append(labels, more...)
		list = append(list, sample{family.GetName() + suffix, "{" + strings.Join(labels, ",") + "}", value})
	}
	switch {
	case m.Counter != nil:
		add("", m.Counter.GetValue())
	case m.Gauge != nil:
		add("", m.Gauge.GetValue())
	case m.Histogram != nil:
		h := m.Histogram
		for _, b := range h.Bucket {
			add("_bucket", float64(b.GetCumulativeCount()), fmt.Sprintf("le=%q", fmt.Sprint(b.GetUpperBound())))
		}
		add("_bucket", float64(h.GetSampleCount()), `le="+Inf"`)
		add("_sum", h.GetSampleSum())
		add("_count", float64(h.GetSampleCount()))
	}
	return list
}

// value returns the value of a series; NaN if there is none.
func (p *process) value(series string) float64 {
	p.f.t.Helper()
	list := p.scrape()
	i := slices.IndexFunc(list, func(s sample) bool { return s.String() == series })
	if i < 0 {
		return math.NaN()
	}
	return list[i].value
}

// must checks values of series, in the order series, value, series, value.
func (p *process) must(want map[string]float64) {
	p.f.t.Helper()
	list := p.scrape()
	got := map[string]float64{}
	for _, s := range list {
		got[s.String()] = s.value
	}
	for series, value := range want {
		if g, ok := got[series]; !ok || g != value {
			p.f.t.Errorf("%s: %s is %v (there: %v), want %v", p.name, series, g, ok, value)
		}
	}
}

func succeed(context.Context, job.ShardingContext) error { return nil }

// lasts is a handler that takes some time.
func lasts(d time.Duration) job.HandlerFunc {
	return func(ctx context.Context, _ job.ShardingContext) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func every(name, cron string) job.Config {
	return job.Config{Name: name, Cron: cron, TimeZone: "GMT+00:00", ShardingTotalCount: 2}
}
