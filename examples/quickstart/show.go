package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/embedetcd"
)

// show runs the whole show. Its error says why it could not go on to its end, or that a promise was broken.
func show(ctx context.Context, s settings, out io.Writer) (err error) {
	st := &stage{settings: s, crew: crew{events: make(chan event)}, out: out}
	st.say("one process alone counts the files below %s, for comparison", s.dir)
	for item := range items {
		if st.alone[item], err = count(ctx, s.dir, item, items, 0); err != nil {
			return err
		}
	}
	if s.servers == "" {
		server, err := embedetcd.Start(ctx, "127.0.0.1:0")
		if err != nil {
			return fmt.Errorf("start etcd: %w", err)
		}
		defer server.Stop()
		st.servers = server.Address()
	}
	registry, err := st.dial(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tidyUp(registry, s.job)) }()
	st.say("the registry is %s at %s; %d items share the files, every %v", s.store, st.servers, items, every)
	st.say("%s", legend)
	if err := st.play(ctx); err != nil {
		return err
	}
	return st.sumUp()
}

// tidyUp removes the job from the registry, which may be one that others use, and closes that.
func tidyUp(registry coord.Registry, job string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, err := registry.Commit(ctx, coord.DeleteTree(job))
	return errors.Join(err, registry.Close(ctx))
}

// stage is where the show plays: all that is known about the job, in one goroutine.
type stage struct {
	settings
	out    io.Writer
	alone  [items]result // of one process alone
	crew   crew
	record [items]runs
	table  [items]row
	next   time.Time   // the next tick to draw
	drawn  []time.Time // the ticks before that
}

// play is the story: what happens to the workers, one scene after the other.
func (s *stage) play(ctx context.Context) error {
	ctx, end := context.WithCancel(ctx)
	defer s.crew.readers.Wait()
	defer end() // then the workers that are left leave, too
	for _, scene := range []func(context.Context) error{
		s.start, s.start, s.start, s.watch(3),
		s.dismiss(syscall.SIGKILL, "is killed with SIGKILL"), s.watch(2),
		s.dismiss(syscall.SIGTERM, "is told to leave (SIGTERM)"), s.watch(1),
		s.start, s.watch(3),
	} {
		if err := scene(ctx); err != nil {
			return err
		}
	}
	return nil
}

// start starts the next worker.
func (s *stage) start(ctx context.Context) error {
	w, err := s.crew.start(ctx, s.settings)
	if err != nil {
		return fmt.Errorf("start a worker: %w", err)
	}
	s.say("%s starts, process %d", w.name, w.cmd.Process.Pid)
	return nil
}

// watch waits until more ticks are drawn.
func (s *stage) watch(more int) func(context.Context) error {
	return func(ctx context.Context) error {
		enough := len(s.drawn) + more
		return s.await(ctx, "runs of all items", func() bool { return len(s.drawn) >= enough })
	}
}

// dismiss ends a worker in mid-item.
func (s *stage) dismiss(by syscall.Signal, how string) func(context.Context) error {
	return func(ctx context.Context) error {
		var w *worker
		if err := s.await(ctx, "an instance in mid-item", func() bool { w = s.inMidItem(); return w != nil }); err != nil {
			return err
		}
		s.say("%s %s in the middle of %d items", w.name, how, len(s.runningOn(w)))
		if err := w.dismiss(by); err != nil {
			return err
		}
		return s.await(ctx, "the end of "+w.name, func() bool { return w.gone })
	}
}

// inMidItem returns a worker in the middle of an item, too far from the end to finish that before a signal comes.
func (s *stage) inMidItem() *worker {
	for _, w := range s.crew.workers {
		isInMid := func(e *run) bool { return time.Since(e.since) > atLeast/3 && time.Since(e.since) < atLeast*2/3 }
		if !w.dismissed && slices.ContainsFunc(s.runningOn(w), isInMid) {
			return w
		}
	}
	return nil
}

// runningOn returns what a worker runs at the moment, by item.
func (s *stage) runningOn(w *worker) runs {
	return slices.DeleteFunc(slices.Concat(s.record[:]...), func(e *run) bool { return e.worker != w || e.State != running })
}

// await waits for something. Meanwhile it takes in everything that the workers report.
func (s *stage) await(ctx context.Context, what string, happened func() bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("waited %v in vain for %s", patience, what))
	defer cancel()
	clock := time.NewTicker(50 * time.Millisecond) // some things happen because time passes
	defer clock.Stop()
	for !happened() {
		select {
		case e := <-s.crew.events:
			if err := s.take(e); err != nil {
				return err
			}
		case <-clock.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// take takes an event in. An error ends the show.
func (s *stage) take(e event) error {
	w := e.from
	if e.report == nil {
		w.gone, w.lost = true, w.lost || e.err != nil
		for _, cut := range s.runningOn(w) {
			cut.State, cut.since = cutShort, time.Now()
		}
		if !w.dismissed {
			return fmt.Errorf("%s ended by itself: %w", w.name, e.err)
		}
		s.say("%s has ended", w.name)
		return nil
	}
	if s.next.IsZero() {
		s.next = e.report.Tick
	}
	this, before := s.record[e.report.Item].add(w, *e.report)
	row := &s.table[this.Item]
	switch {
	case this.State == running && this.isFailover() && before != nil:
		s.say("%s runs item %d again, %.1f s after it ended on %s", w.name, this.Item, this.since.Sub(before.since).Seconds(), before.worker.name)
	case this.State == finished && row.fence > this.Token:
		s.say("a result of %s for item %d is refused: a later run has written", w.name, this.Item)
	case this.State == finished:
		row.result, row.fence = this.Result, this.Token
	case this.State == cutShort: // by the end of its session
		w.lost = true
	}
	s.draw()
	return nil
}

// draw draws who ran which item for the next tick, as soon as all items have that behind them.
func (s *stage) draw() {
	row := s.next.Format("tick 15:04:05 ")
	for item, of := range s.record {
		if !of.areOver(s.next) {
			return
		}
		row += fmt.Sprintf(" %d:%-3v", item, of.at(s.next))
	}
	s.say("%s", strings.TrimRight(row, " "))
	s.next, s.drawn = s.next.Add(every), append(s.drawn, s.next)
}

// say writes a line.
func (s *stage) say(format string, args ...any) {
	fmt.Fprintf(s.out, "%s  %s\n", time.Now().Format("15:04:05.0"), fmt.Sprintf(format, args...))
}

// sumUp checks everything, and prints a summary. Its error says that a promise was broken.
func (s *stage) sumUp() error {
	var missed, files int
	var faults []string
	for item, of := range s.record {
		for _, tick := range s.drawn {
			same := of.at(tick)
			if len(same) == 0 && of.makeUpFor(tick) {
				missed++
			} else if !same.areOnce() {
				faults = append(faults, fmt.Sprintf("item %d, tick %s: %v", item, tick.Format(time.TimeOnly), same))
			}
		}
		want := s.alone[item]
		files += want.Files
		if got := s.table[item].result; got != want {
			faults = append(faults, fmt.Sprintf("item %d: %+v, and %+v by one process alone: has a file changed?", item, got, want))
		}
	}
	if len(faults) > 0 {
		return fmt.Errorf("not as promised:\n%s", strings.Join(faults, "\n"))
	}
	fmt.Fprintf(s.out, `
%d ticks of %d items: %d begun, each exactly once, and %d missed and made up for.
What was cut short was run again, and nothing else. %d files were counted as by one process alone.
All as promised.
`, len(s.drawn), items, len(s.drawn)*items-missed, missed, files)
	return nil
}
