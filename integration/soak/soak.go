package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/integration/cluster"
	"github.com/elasticjob-go/elasticjob/integration/history"
	"github.com/elasticjob-go/elasticjob/integration/worker"
)

// errBroken says that a promise was broken, which the output has shown.
var errBroken = errors.New("a promise was broken")

// Times of a soak.
const (
	// calmTime bounds the time from the end of a round's faults until all items run again.
	calmTime = 90 * time.Second
	// endTime bounds the end of the soak.
	endTime = 2 * time.Minute
	// drain is what handlers get at the end.
	drain = 30 * time.Second
	// showEvery is the time between two lines of progress.
	showEvery = 10 * time.Second
)

var limits = history.Limits{
	Session: 2 * time.Second, Margin: 2500 * time.Millisecond, Skew: 2 * maxOffset, Silence: 12 * time.Second,
}

// quota is as much as an etcd may hold in a soak.
const quota = 128 << 20

// jobs are quick ones and slow ones, with failover and without, with handlers that listen
// to their context and that do not, with fewer threads than items, and a stream.
var jobs = []cluster.Job{
	{Name: "j1", Every: time.Second, Items: 8, Failover: true, Work: []time.Duration{300 * time.Millisecond}},
	{Name: "j10", Every: 5 * time.Second, Items: 6, Failover: true, Work: []time.Duration{50 * time.Millisecond, 3 * time.Second, 7 * time.Second}},
	{Name: "stubborn", Every: 4 * time.Second, Items: 3, Failover: true, Stubborn: true, Work: []time.Duration{2500 * time.Millisecond}},
	{Name: "plain", Every: time.Second, Items: 4, Work: []time.Duration{20 * time.Millisecond, 600 * time.Millisecond}},
	{Name: "narrow", Every: 2 * time.Second, Items: 6, Failover: true, Threads: 2, Work: []time.Duration{100 * time.Millisecond}},
	{Name: "stream", Every: 2 * time.Second, Items: 4, Failover: true, Work: []time.Duration{20 * time.Millisecond},
		Stream: &worker.Stream{Begin: time.Now(), Every: 100 * time.Millisecond},
		Props:  map[string]string{"streaming.process": "true", "dataflow.page.size": "500"}},
}

// managed are jobs that the operator creates, changes and removes.
var managed = []cluster.Job{
	{Name: "managed", Typed: true, Every: time.Second, Items: 4, Failover: true, Work: []time.Duration{200 * time.Millisecond, 1500 * time.Millisecond}},
	{Name: "managed2", Typed: true, Every: 2 * time.Second, Items: 3, Work: []time.Duration{300 * time.Millisecond}},
}

// newOne is a strategy and an error handler that every other worker knows.
const newOne = "NEW_ONE"

// soak is one run.
type soak struct {
	options
	*cluster.Cluster
	out   io.Writer
	begin time.Time

	operator *cluster.Operator
	steering *cluster.Steering
	program  string                     // of the workers, whose wall clocks can be set
	workers  map[string]*cluster.Worker // by name, those that should run
	names    []string

	seen    cluster.Mark // up to where fires and items were counted
	fires   map[fire]bool
	items   int
	faults  int
	checked time.Time
	broken  map[string]bool // violations that were shown, by promise and first event
}

type fire struct {
	job  string
	tick int64
}

func run(ctx context.Context, o options, out io.Writer) (err error) {
	if err := o.validate(); err != nil {
		return err
	}
	fmt.Fprintf(out, "soak of %v on %s with seed %d: again with -store %s -seed %d -duration %v -workers %d\n",
		o.duration, o.store, o.seed, o.store, o.seed, o.duration, o.workers)
	start := func(ctx context.Context) (cluster.Store, error) { return cluster.StartEtcdWithUsers(ctx, quota) }
	if o.store == cluster.ZooKeeper {
		start = cluster.StartZooKeeper
	}
	folder, err := os.MkdirTemp("", "soak")
	if err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	defer os.RemoveAll(folder)
	program, err := cluster.BuildStepped(ctx, folder)
	if err != nil {
		return err
	}
	store, err := start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	c, err := cluster.New(ctx, store, "soak", limits)
	if err != nil {
		return err
	}
	s := &soak{
		options: o, Cluster: c, out: out, program: program, begin: time.Now(), workers: map[string]*cluster.Worker{},
		fires: map[fire]bool{}, broken: map[string]bool{}, checked: time.Now(),
	}
	defer func() {
		keep := ""
		if err != nil && ctx.Err() == nil {
			keep = o.keep
			fmt.Fprintf(out, "all logs are in %s\n", keep)
		}
		err = errors.Join(err, c.Close(keep))
	}()
	return s.run(ctx)
}

func (s *soak) run(ctx context.Context) error {
	for _, j := range jobs {
		if err := s.Add(j); err != nil {
			return err
		}
	}
	for i := range s.options.workers {
		s.names = append(s.names, fmt.Sprintf("w%d", i+1))
	}
	if err := s.hire(ctx); err != nil {
		return err
	}
	err := s.calm(ctx)
	last := s.begin.Add(s.duration)
	for r := s.round; err == nil && ctx.Err() == nil && time.Now().Before(last) && (s.rounds == 0 || r < s.round+s.rounds); r++ {
		err = s.play(ctx, r)
	}
	if ctx.Err() != nil {
		fmt.Fprintln(s.out, "interrupted")
		err = nil // the history so far is checked all the same
	}
	return s.finish(err)
}

// play is one round.
func (s *soak) play(ctx context.Context, number int) error {
	r := rand.New(rand.NewPCG(s.seed, uint64(number)))
	plan := draw(r, s.names)
	s.show(fmt.Sprintf("round %d: %s", number, plan))
	var undo []func(context.Context) error
	var err error
	dismiss := s.steer(ctx, uint64(number))
	for _, step := range plan.steps {
		if err = s.pass(ctx, step.after); err != nil {
			break
		}
		s.faults++
		var back func(context.Context) error
		back, err = step.do(ctx, s)
		if back != nil {
			undo = append(undo, back)
		}
		if err != nil {
			err = fmt.Errorf("round %d: %s: %w", number, step.what, err)
			break
		}
	}
	err = errors.Join(err, s.pass(ctx, plan.hold), dismiss())
	// The fault of the store ends first, because the others may need the store.
	for i := range undo {
		err = errors.Join(err, undo[len(undo)-1-i](ctx))
	}
	if err != nil {
		return err
	}
	if err := s.calm(ctx); err != nil {
		return fmt.Errorf("round %d: after %s: %w", number, plan, err)
	}
	s.check()
	return nil
}

// calm starts workers that are missing, and waits until every item runs and no fault is left.
func (s *soak) calm(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, calmTime)
	defer cancel()
	for _, name := range s.names {
		if w := s.workers[name]; w != nil && w.Alive() {
			continue
		}
		if err := s.start(name, 0); err != nil {
			return err
		}
	}
	done := make(chan error, 1)
	go func() { done <- errors.Join(s.steering.Rest(ctx), s.Settled(ctx), s.Covered(ctx), s.Sound(ctx)) }()
	return s.while(done)
}

// start starts a worker with a wrong clock.
func (s *soak) start(name string, offset time.Duration) error {
	o := cluster.Options{Program: s.program, ClockOffset: offset, Runner: slices.Index(s.names, name) == 2}
	if slices.Index(s.names, name)%2 == 0 {
		o.Knows = newOne
	}
	if slices.Index(s.names, name)%3 == 1 {
		o.Early = time.Second
	}
	w, err := s.Start(name, o)
	if err == nil {
		s.workers[name] = w
	}
	return err
}

// pass lets time pass.
func (s *soak) pass(ctx context.Context, d time.Duration) error {
	done := make(chan error, 1)
	timer := time.NewTimer(d)
	defer timer.Stop()
	go func() {
		select {
		case <-timer.C:
			done <- nil
		case <-ctx.Done():
			done <- context.Cause(ctx)
		}
	}()
	return s.while(done)
}

// while shows progress until something is done.
func (s *soak) while(done <-chan error) error {
	tick := time.NewTicker(showEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-tick.C:
			s.show("")
		}
	}
}

// show writes a line of progress.
func (s *soak) show(what string) {
	for _, e := range s.Since(s.seen) {
		s.seen++
		if e.Kind == history.Start {
			s.items++
			if e.Source != "FAILOVER" && e.Source != "MANUAL" && e.Source != "RETRY" && e.Source != "BACKFILL" {
				s.fires[fire{e.Job, e.Tick.UnixMilli()}] = true
			}
		}
	}
	fmt.Fprintf(s.out, "%8s  %6d fires  %7d items  %4d faults  %3d violations  %s\n",
		time.Since(s.begin).Round(time.Second), len(s.fires), s.items, s.faults, len(s.broken), what)
}

// check checks the history so far, at most once a minute.
func (s *soak) check() {
	if time.Since(s.checked) < time.Minute {
		return
	}
	s.report(history.Check(s.Events(), limits).Violations)
	s.checked = time.Now()
}

// report shows violations that were not shown yet.
func (s *soak) report(violations []history.Violation) {
	for _, v := range violations {
		first := v.Events[0]
		key := fmt.Sprintf("%d %s %d", v.Promise, first.Process, first.Mono)
		if !s.broken[key] {
			s.broken[key] = true
			fmt.Fprint(s.out, "\nVIOLATION of ", v, "\n")
		}
	}
}

// finish lets all exit, checks everything, and writes the table.
func (s *soak) finish(failed error) error {
	if failed != nil {
		fmt.Fprintf(s.out, "\nFAILED: %v\n", failed)
	}
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	if err := s.endStreams(ctx); err != nil {
		fmt.Fprintf(s.out, "\nthe streams have not ended: %v\n", err)
	}
	report, err := s.Finish(ctx, drain)
	s.report(report.Violations)
	if err != nil {
		fmt.Fprintf(s.out, "\nFAILED at the end: %v\n", err)
	}
	s.show("end")
	p := func(list []time.Duration, percent int) time.Duration {
		if len(list) == 0 {
			return 0
		}
		return list[min(len(list)-1, len(list)*percent/100)].Round(time.Millisecond)
	}
	rows := []struct {
		name  string
		value any
	}{
		{"store", s.store}, {"seed", s.seed}, {"time", time.Since(s.begin).Round(time.Second)},
		{"fires", report.Fires}, {"items run", report.Items}, {"failovers", report.Failovers}, {"make-ups", report.MakeUps},
		{"run on request", report.Triggers}, {"requests answered", report.Requests}, {"pauses", report.Pauses}, {"pins", report.Pins},
		{"kills; runs that ended by one", fmt.Sprintf("%d; %d", report.Kills, report.Killed)}, {"cut short", report.Stopped}, {"faults", report.Faults},
		{"writes refused by the fence", report.Refused},
		{"longest gap after heal", report.LongestGap.Round(time.Millisecond)},
		{"longest silence", report.LongestSilence.Round(time.Millisecond)},
		{"re-run after a killed session, p50", p(report.TakeOvers, 50)},
		{"re-run after a killed session, p99", p(report.TakeOvers, 99)},
		{"machine or store slow", report.Slow.Round(time.Millisecond)},
		{"violations", len(report.Violations)},
	}
	fmt.Fprintln(s.out, strings.Repeat("-", 60))
	for _, row := range rows {
		fmt.Fprintf(s.out, "%-36s %v\n", row.name, row.value)
	}
	if len(report.Violations) > 0 || failed != nil || err != nil {
		return errBroken
	}
	return nil
}

// endStreams switches streaming off. A stream that is cut short waits to be run again, and that
// would be left in the tree.
func (s *soak) endStreams(ctx context.Context) error {
	for _, j := range jobs {
		if j.Stream == nil {
			continue
		}
		j.Props = map[string]string{"streaming.process": "false"}
		if err := s.Reconfigure(ctx, j); err != nil {
			return err
		}
	}
	return errors.Join(s.Covered(ctx), s.Covered(ctx)) // the first runs may have begun before
}
