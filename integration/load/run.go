package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// patience is how long after the window executions of its ticks may still begin.
const patience = 15 * time.Second

// stopTimeout bounds the end of a run that has failed or was interrupted.
const stopTimeout = time.Minute

// member is a worker, as the program sees it.
type member struct {
	*child
	table *table

	before Memory // once it is connected
	// first and last are its counters at both ends of its part of the window.
	first, last Counters
	gone        bool // it was stopped or killed in the middle
	killed      time.Time
}

// runner is one run of the program.
type runner struct {
	options   options
	progress  io.Writer
	site      *site
	namespace string
	members   []*member
	report    *report
}

// run does all, and returns the report.
func run(ctx context.Context, o options, progress io.Writer) (_ *report, err error) {
	s, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer s.close()
	r := &runner{
		options: o, progress: progress, site: s,
		namespace: fmt.Sprintf("load-%d-%d", os.Getpid(), time.Now().UnixMilli()),
		report:    newReport(o),
	}
	defer r.close()
	if o.Bare {
		if err := r.bare(ctx); err != nil {
			return nil, fmt.Errorf("bare client: %w", err)
		}
	}
	if o.Jobs > 0 {
		if err := r.jobs(ctx); err != nil {
			// What was started leaves in order, if it still can.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
			defer cancel()
			return nil, errors.Join(err, r.stop(ctx))
		}
	}
	return r.report, nil
}

func (r *runner) say(format string, args ...any) {
	fmt.Fprintf(r.progress, "load: "+format+"\n", args...)
}

// close ends the workers that are left.
func (r *runner) close() {
	for _, m := range r.members {
		m.close()
		m.table.close()
	}
}

// bare measures the limit of a bare client.
func (r *runner) bare(ctx context.Context) error {
	r.say("the bare client")
	c, err := start(serveBare, nil)
	if err != nil {
		return err
	}
	defer c.close()
	before, err := r.site.count(ctx)
	if err != nil {
		return err
	}
	done, err := call[BareArgs, BareDone](ctx, c, "Run", BareArgs{
		Endpoint: r.site.endpoints[0], Namespace: r.namespace, Group: r.options.Group, Flight: r.options.Flight, For: min(r.options.For, longestBare),
	})
	if err != nil {
		return err
	}
	after, err := r.site.count(ctx)
	r.report.Bare = newBareReport(r.options, done, after.minus(before))
	r.say("%.0f fires/s", r.report.Bare.Rate) // the jobs may fail
	return err
}

// jobs measures the jobs.
func (r *runner) jobs(ctx context.Context) error {
	for range r.options.Processes {
		if err := r.join(ctx); err != nil {
			return err
		}
	}
	if err := r.start(ctx); err != nil {
		return err
	}
	w := r.options.window(time.Now().Add(max(r.options.Warm, 500*time.Millisecond)))
	if err := r.note(ctx, r.members, w); err != nil {
		return err
	}
	r.say("figures from %s to %s, of %d ticks", w.From.Format(time.TimeOnly), w.Until.Format(time.TimeOnly), len(w.ticks))
	if err := r.measure(ctx, w); err != nil {
		return err
	}
	if err := r.await(ctx, len(w.ticks)); err != nil {
		return err
	}
	if err := r.stop(ctx); err != nil {
		return err
	}
	for _, m := range r.members {
		m.close() // so that nothing is noted any more
	}
	return r.report.judge(w, r.members)
}

// join makes one more worker and connects it.
func (r *runner) join(ctx context.Context) error {
	o := r.options
	// Twice what is expected, one more tick, and some changes of what it has.
	runs := o.Jobs * o.Items * (len(o.window(time.Now()).ticks) + 1)
	t, file, err := newTable(2*runs + 100*o.Jobs + 10_000)
	if err != nil {
		return err
	}
	defer file.Close()
	c, err := start(serveWorker, file)
	if err != nil {
		t.close()
		return err
	}
	m := &member{child: c, table: t}
	r.members = append(r.members, m)
	m.before, err = call[Settings, Memory](ctx, c, "Dial", Settings{o, r.site.endpoints, r.namespace, len(r.members) - 1})
	return err
}

func children(members []*member) []*child {
	var all []*child
	for _, m := range members {
		if !m.gone {
			all = append(all, m.child)
		}
	}
	return all
}

// start starts all jobs in all workers.
func (r *runner) start(ctx context.Context) error {
	r.say("starting %d jobs in each of %d processes, %d at a time", r.options.Jobs, len(r.members), r.options.Starting)
	showing, shown := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.showStarts(showing)
	}()
	begin := time.Now()
	took, err := callAll[None, Took](ctx, children(r.members), "Start", None{})
	shown()
	<-ended
	if err != nil {
		return err
	}
	r.report.Start = newLapse(took)
	r.say("started in %v", r.report.Start.duration())
	if err := r.assigned(ctx); err != nil {
		return err
	}
	r.report.Assigned = time.Since(begin).Seconds()
	return nil
}

// assigned waits until every item has an owner that knows it. It asks seldom enough to use at
// most a tenth of the time.
func (r *runner) assigned(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, errors.New("not all items were assigned in time"))
	defer cancel()
	for {
		asked := time.Now()
		has, err := callAll[None, int](ctx, children(r.members), "Assigned", None{})
		if err != nil {
			return err
		}
		sum := 0
		for _, n := range has {
			sum += n
		}
		if sum == r.options.Jobs*r.options.Items {
			return nil
		}
		if err := until(ctx, time.Now().Add(max(5*time.Millisecond, 10*time.Since(asked)))); err != nil {
			return err
		}
	}
}

func (r *runner) showStarts(ctx context.Context) {
	every := time.NewTicker(2 * time.Second)
	defer every.Stop()
	for {
		select {
		case <-every.C:
		case <-ctx.Done():
			return
		}
		started, err := callAll[None, int](ctx, children(r.members), "Started", None{})
		if err != nil {
			return // Start has the error, too
		}
		r.say("started %v", started)
	}
}

func (r *runner) note(ctx context.Context, members []*member, w Window) error {
	_, err := callAll[Window, None](ctx, children(members), "Note", w)
	return err
}

// measure reads all counters at both ends of the window, and does in the middle what is to
// happen.
func (r *runner) measure(ctx context.Context, w Window) error {
	if err := until(ctx, w.From.Add(-probed)); err != nil {
		return err
	}
	first, err := r.probe(ctx)
	if err != nil {
		return err
	}
	for _, m := range r.members {
		m.first = m.last
	}
	if r.options.Event != "" {
		if err := until(ctx, r.options.middle(w)); err != nil {
			return err
		}
		if err := r.happen(ctx, w); err != nil {
			return fmt.Errorf("-event %s: %w", r.options.Event, err)
		}
	}
	if err := r.wait(ctx, w.Until.Add(-probed)); err != nil {
		return err
	}
	last, err := r.probe(ctx)
	if err != nil {
		return err
	}
	if err := r.memory(ctx); err != nil {
		return err
	}
	r.report.count(first, last, r.members)
	return until(ctx, w.Until)
}

// probe is what the machine and the store have done at one time.
type probe struct {
	at      time.Time
	machine time.Duration // CPU time
	own     time.Duration // CPU time of this process
	store   served
}

func (r *runner) probe(ctx context.Context) (p probe, err error) {
	var living []*member
	for _, m := range r.members {
		if !m.gone {
			living = append(living, m)
		}
	}
	p.at = time.Now()
	counters, err := callAll[None, Counters](ctx, children(living), "Count", None{})
	if err != nil {
		return p, err
	}
	for i, m := range living {
		m.last = counters[i]
	}
	if p.machine, err = machineCPU(); err != nil {
		return p, err
	}
	if p.own, err = ownCPU(); err != nil {
		return p, err
	}
	p.store, err = r.site.count(ctx)
	return p, err
}

// memory reads what each worker holds.
func (r *runner) memory(ctx context.Context) error {
	var grown []Memory
	for _, m := range r.members {
		if m.gone {
			continue
		}
		now, err := call[None, Memory](ctx, m.child, "Memory", None{})
		if err != nil {
			return err
		}
		r.report.RSS = append(r.report.RSS, now.RSS)
		grown = append(grown, Memory{now.RSS - m.before.RSS, now.Heap - m.before.Heap, now.Stack - m.before.Stack, now.Goroutines - m.before.Goroutines})
	}
	r.report.Memory = newMemoryReport(grown, r.options.Jobs)
	return nil
}

// wait waits, and shows every few seconds how many executions there are.
func (r *runner) wait(ctx context.Context, end time.Time) error {
	const every = 5 * time.Second
	for time.Until(end) > every {
		if err := until(ctx, time.Now().Add(every)); err != nil {
			return err
		}
		r.say("%d executions, %v to go", r.executions(), time.Until(end).Round(time.Second))
	}
	return until(ctx, end)
}

// executions is about how many have begun.
func (r *runner) executions() int {
	n := 0
	for _, m := range r.members {
		n += m.table.count()
	}
	return n
}

// await waits until all executions of the window have begun and ended, or it is too late.
func (r *runner) await(ctx context.Context, ticks int) error {
	expected := r.options.Jobs * r.options.Items * ticks
	for end := time.Now().Add(r.options.Work + patience); r.executions() < expected && time.Now().Before(end); {
		if err := until(ctx, time.Now().Add(100*time.Millisecond)); err != nil {
			return err
		}
	}
	return until(ctx, time.Now().Add(r.options.Work))
}

// stop shuts all jobs down, and removes them from a store that is not ours.
func (r *runner) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	left := children(r.members)
	if len(left) == 0 {
		return nil
	}
	r.say("shutting down")
	took, err := callAll[None, Took](ctx, left, "Stop", None{})
	if err != nil {
		return err
	}
	r.report.Shutdown = newLapse(took)
	if r.site.own == nil {
		if _, err := call[None, None](ctx, left[0], "Clean", None{}); err != nil {
			return err
		}
	}
	_, err = callAll[None, None](ctx, left, "Close", None{})
	return err
}

// until waits for a time, or for the end of ctx.
func until(ctx context.Context, t time.Time) error {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
