package main

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"runtime/debug"
	"strings"
	"text/tabwriter"
	"time"
)

// report is what the program prints. Times are in milliseconds or microseconds, as the
// names say. What is not known is left out.
type report struct {
	Options options `json:"options"`
	Machine machine `json:"machine"`
	Bare    *bare   `json:"bare,omitempty"`

	Start    lapse   `json:"start"`
	Assigned float64 `json:"dealt_s"` // from the begin of the start until every item had an owner
	Shutdown lapse   `json:"shutdown"`
	Seconds  float64 `json:"window_s"`
	Ticks    int     `json:"ticks"`
	Runs     runs    `json:"runs"`
	Rate     float64 `json:"executions_per_s"`
	Late     spread  `json:"late"`
	First    *spread `json:"late_first_item,omitempty"`
	Last     *spread `json:"late_last_item,omitempty"`
	Commits  commits `json:"commits"`
	CPU      cpu     `json:"cpu"`
	RSS      []int64 `json:"rss_bytes"`
	Memory   memory  `json:"memory"`
	Event    *event  `json:"event,omitempty"`

	happened  *happening
	used      Counters
	storeUsed served
}

type machine struct {
	CPUs     int    `json:"cpus"`
	Load     string `json:"load_average_before"`
	Go       string `json:"go"`
	Revision string `json:"revision,omitempty"` // of the code, if the program was built with it
	InMemory bool   `json:"store_in_memory,omitempty"`
}

// lapse is how long something took for all jobs, in the slowest process, and for each.
type lapse struct {
	Seconds float64 `json:"all_s"`
	Each    spread  `json:"each"`
}

type commits struct {
	PerSecond  float64  `json:"per_s"`
	Conflicts  float64  `json:"conflicts_per_s"`
	Failed     float64  `json:"failed_per_s"`
	Requests   *float64 `json:"requests_per_s,omitempty"`
	PerRequest *float64 `json:"per_request,omitempty"`
	Revisions  *float64 `json:"revisions_per_s,omitempty"`
	Fsyncs     *float64 `json:"fsyncs_per_s,omitempty"`
}

type cpu struct {
	Percent           float64  `json:"percent_of_a_core"` // of all processes together
	PerExecution      *float64 `json:"us_per_execution,omitempty"`
	Allocations       *float64 `json:"allocations_per_execution,omitempty"`
	Store             *float64 `json:"store_percent_of_a_core,omitempty"`
	StorePerExecution *float64 `json:"store_us_per_execution,omitempty"`
	Others            *float64 `json:"others_percent_of_a_core,omitempty"` // on this machine
}

// memory is what a job adds to a process, in bytes.
type memory struct {
	RSS        float64 `json:"rss_per_job"`
	Heap       float64 `json:"heap_per_job"`
	Stack      float64 `json:"stack_per_job"`
	Goroutines float64 `json:"goroutines_per_job"`
}

type bare struct {
	Rate       float64  `json:"fires_per_s"`
	Group      int      `json:"group"`
	Flight     int      `json:"flight"`
	Percent    float64  `json:"percent_of_a_core"`
	Store      *float64 `json:"store_percent_of_a_core,omitempty"`
	PerRequest *float64 `json:"commits_per_request,omitempty"`
	Fsyncs     *float64 `json:"fsyncs_per_s,omitempty"`
}

type event struct {
	Kind string `json:"kind"`
	// Took is how long the process took to start all jobs, or to shut them down.
	Took float64 `json:"took_ms"`
	// FirstChange and Settled are from the beginning until the first and the last change of
	// what processes have. Even is whether every item had an owner then, and no process two
	// more items of a job than another.
	FirstChange float64 `json:"first_change_ms"`
	Settled     float64 `json:"settled_ms"`
	Even        bool    `json:"even"`
	// Commits and Conflicts are those of the processes that stay, from then to the end of
	// the window, those for executions included.
	Commits   int64     `json:"commits"`
	Conflicts int64     `json:"conflicts"`
	Failover  *failover `json:"failover,omitempty"`
}

func newReport(o options) *report {
	r := &report{Options: o, Machine: machine{CPUs: runtime.NumCPU(), Load: loadAverage(), Go: runtime.Version()}}
	r.Machine.InMemory = len(o.Endpoints) == 0 && inMemory()
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				r.Machine.Revision = s.Value
			}
		}
	}
	return r
}

func newLapse(took []Took) lapse {
	var l lapse
	var each []time.Duration
	for _, t := range took {
		l.Seconds = max(l.Seconds, t.All.Seconds())
		each = append(each, t.Each...)
	}
	l.Each = spreadOf(each)
	return l
}

func (l lapse) duration() time.Duration {
	return time.Duration(l.Seconds * float64(time.Second)).Round(time.Millisecond)
}

// newMemoryReport is the mean over the processes.
func newMemoryReport(grown []Memory, jobs int) memory {
	var m memory
	n := float64(len(grown) * jobs)
	for _, g := range grown {
		m.RSS += float64(g.RSS) / n
		m.Heap += float64(g.Heap) / n
		m.Stack += float64(g.Stack) / n
		m.Goroutines += float64(g.Goroutines) / n
	}
	return m
}

func newBareReport(o options, d BareDone, store served) *bare {
	s := d.Took.Seconds()
	return &bare{
		Rate: float64(d.Fires) / s, Group: o.Group, Flight: o.Flight,
		Percent: percent(d.CPU, d.Took), Store: percentKnown(store.cpu, d.Took),
		PerRequest: ratio(float64(2*d.Fires), store.requests), Fsyncs: ratio(store.fsyncs, s),
	}
}

func percent(cpu, of time.Duration) float64 { return 100 * cpu.Seconds() / of.Seconds() }

func percentKnown(cpu, of time.Duration) *float64 {
	if cpu < 0 {
		return nil
	}
	p := percent(cpu, of)
	return &p
}

// ratio is nil for what is not known.
func ratio(a, b float64) *float64 {
	if a < 0 || b <= 0 {
		return nil
	}
	q := a / b
	return &q
}

// count takes in what was counted at both ends of the window.
func (r *report) count(first, last probe, members []*member) {
	took := last.at.Sub(first.at)
	r.Seconds = took.Seconds()
	var used, stay Counters
	for _, m := range members {
		used = used.plus(m.last.minus(m.first))
		if !m.gone {
			stay = stay.plus(m.last)
		}
	}
	store := last.store.minus(first.store)
	s := took.Seconds()
	r.Commits = commits{
		PerSecond: float64(used.Commits) / s, Conflicts: float64(used.Conflicts) / s, Failed: float64(used.Failed) / s,
		Requests: ratio(store.requests, s), PerRequest: ratio(float64(used.Commits), store.requests),
		Revisions: ratio(store.revisions, s), Fsyncs: ratio(store.fsyncs, s),
	}
	r.CPU = cpu{Percent: percent(used.CPU, took), Store: percentKnown(store.cpu, took)}
	others := last.machine - first.machine - (last.own - first.own) - used.CPU - max(store.cpu, 0)
	r.CPU.Others = percentKnown(max(others, 0), took)
	r.used, r.storeUsed = used, store
	if h := r.happened; h != nil {
		since := stay.minus(h.before)
		r.Event = &event{Kind: r.Options.Event, Took: milliseconds(h.took), Commits: since.Commits, Conflicts: since.Conflicts}
	}
}

// judge takes in what the workers have noted, when all have ended.
func (r *report) judge(w Window, members []*member) error {
	var all []noted
	var stays []bool
	for i, m := range members {
		entries, err := m.table.entries()
		if err != nil {
			return fmt.Errorf("worker %d: %w", i, err)
		}
		all = append(all, noted{entries, m.killed})
		stays = append(stays, !m.gone)
	}
	r.Ticks = len(w.ticks)
	r.Runs = judge(r.Options, w.ticks, all)
	r.Rate = float64(r.Runs.Executions) / w.Until.Sub(w.From).Seconds()
	r.Late = spreadOf(lateness(all))
	if r.Options.Items > 1 {
		first, last := edges(all)
		a, b := spreadOf(first), spreadOf(last)
		r.First, r.Last = &a, &b
	}
	if n := float64(r.Runs.Executions); n > 0 {
		r.CPU.PerExecution = ratio(float64(r.used.CPU.Microseconds()), n)
		r.CPU.Allocations = ratio(float64(r.used.Mallocs), n)
		r.CPU.StorePerExecution = ratio(float64(r.storeUsed.cpu.Microseconds()), n)
	}
	if r.Event == nil {
		return nil
	}
	first, last, even := settled(r.Options, all, stays, r.happened.at, w.Until)
	r.Event.Even = even
	if !first.IsZero() {
		r.Event.FirstChange = milliseconds(first.Sub(r.happened.at))
		r.Event.Settled = milliseconds(last.Sub(r.happened.at))
	}
	if r.Options.Event == eventKill {
		f := orphans(all)
		r.Event.Failover = &f
	}
	return nil
}

// broken says what has gone wrong; "" is nothing.
func (r *report) broken() string {
	var wrong []string
	add := func(n int, what string) {
		if n > 0 {
			wrong = append(wrong, fmt.Sprintf("%d %s", n, what))
		}
	}
	if r.Options.Event != eventKill { // until its session has ended, nobody runs its ticks
		add(r.Runs.Missed, "executions missed")
	}
	add(r.Runs.Twice, "executions twice")
	add(r.Runs.Stray, "executions of no tick")
	if e := r.Event; e != nil {
		if !e.Even && r.Options.Work == 0 { // items that run are not moved
			wrong = append(wrong, "items not assigned evenly again")
		}
		if e.Failover != nil {
			add(e.Failover.Lost, "orphans not run again")
		}
	}
	return strings.Join(wrong, ", ")
}

// write prints a table.
func (r *report) write(out io.Writer) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) { fmt.Fprintf(t, name+"\t"+format+"\n", args...) }
	o := r.Options
	store := o.Store + ", started for this"
	if len(o.Endpoints) > 0 {
		store = o.Store + " at " + strings.Join(o.Endpoints, ",")
	} else if r.Machine.InMemory {
		store += ", WITHOUT A DISK: temporary folders are in memory, set TMPDIR"
	}
	row("store", "%s", store)
	others := ""
	if r.CPU.Others != nil {
		others = fmt.Sprintf(", of which others used %.0f %% of one meanwhile", *r.CPU.Others)
	}
	row("machine", "%d cores%s; load average %s before", r.Machine.CPUs, others, r.Machine.Load)
	if b := r.Bare; b != nil {
		row("bare client", "%.0f fires/s, %s commits a request, %d requests in flight, %s fsyncs/s; CPU %.0f %%, store %s %%",
			b.Rate, known(b.PerRequest, "%.1f"), b.Flight, known(b.Fsyncs, "%.0f"), b.Percent, known(b.Store, "%.0f"))
	}
	if o.Jobs > 0 {
		r.writeJobs(row)
	}
	return t.Flush()
}

func (r *report) writeJobs(row func(name, format string, args ...any)) {
	o := r.Options
	cron, monitored := o.Cron, "monitored"
	if o.Idle {
		cron = "idle"
	}
	if !o.Monitor {
		monitored = "not monitored"
	}
	early := "adaptive"
	if o.Early != adaptive {
		early = o.Early.String()
	}
	row("load", "%d jobs of %d items, %s, work %v, %s, claims %s early, %d processes", o.Jobs, o.Items, cron, o.Work, monitored, early, o.Processes)
	row("start", "%.3f s for all, %d at a time; each %v", r.Start.Seconds, o.Starting, r.Start.Each)
	row("", "all items assigned after %.3f s", r.Assigned)
	row("executions", "%d in %.1f s, %.1f/s, %d ticks", r.Runs.Executions, r.Seconds, r.Rate, r.Ticks)
	row("", "missed %d, made up %d, twice %d, failed over %d, not ended %d", r.Runs.Missed, r.Runs.MadeUp, r.Runs.Twice, r.Runs.FailedOver, r.Runs.Unended)
	if r.Runs.Executions > 0 {
		row("late", "%v", r.Late)
	}
	if r.First != nil && r.Runs.Executions > 0 {
		row("  first item", "%v", *r.First)
		row("  last item", "%v", *r.Last)
	}
	row("commits", "%.0f/s in %s requests/s (%s each), %s revisions/s, %s fsyncs/s; %.1f conflicts/s, %.1f failed/s",
		r.Commits.PerSecond, known(r.Commits.Requests, "%.0f"), known(r.Commits.PerRequest, "%.2f"),
		known(r.Commits.Revisions, "%.0f"), known(r.Commits.Fsyncs, "%.0f"), r.Commits.Conflicts, r.Commits.Failed)
	row("CPU", "%.1f %% of a core, %s µs and %s allocations an execution", r.CPU.Percent, known(r.CPU.PerExecution, "%.0f"), known(r.CPU.Allocations, "%.0f"))
	row("  store", "%s %% of a core, %s µs an execution", known(r.CPU.Store, "%.1f"), known(r.CPU.StorePerExecution, "%.0f"))
	var rss []string
	for _, n := range r.RSS {
		rss = append(rss, fmt.Sprintf("%.0f", float64(n)/(1<<20)))
	}
	row("memory", "RSS %s MiB", strings.Join(rss, ", "))
	m := r.Memory
	row("  a job", "RSS %.1f KiB, heap %.1f and stacks %.1f KiB, %.2f goroutines", m.RSS/1024, m.Heap/1024, m.Stack/1024, m.Goroutines)
	if e := r.Event; e != nil {
		row(e.Kind, "took %.1f ms; owners change from %.1f to %.1f ms, even: %v; %d commits and %d conflicts until the end",
			e.Took, e.FirstChange, e.Settled, e.Even, e.Commits, e.Conflicts)
		if f := e.Failover; f != nil {
			row("  failover", "%d orphans, %d lost; begun elsewhere after %v", f.Orphans, f.Lost, f.Delay)
		}
	}
	row("shutdown", "%.3f s for all, %d at a time; each %v", r.Shutdown.Seconds, o.Starting, r.Shutdown.Each)
}

// known formats a figure, or "?" for one that is not known.
func known(n *float64, format string) string {
	if n == nil || math.IsNaN(*n) {
		return "?"
	}
	return fmt.Sprintf(format, *n)
}
