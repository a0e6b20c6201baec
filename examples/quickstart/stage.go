package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// stage is where the story plays: all that is known about the job, in one goroutine.
type stage struct {
	settings
	job     string
	view    coord.View
	crew    *crew
	screen  *screen
	frames  *time.Ticker // of the live picture
	picture picture
	ledger  ledger
	results results

	victim *worker   // that was killed
	tick   time.Time // the last one that all items have behind them
	until  time.Time // the last one that the check at the end looks at
	fault  error     // something that must never happen; it ends the show
}

const framesPerSecond = 10

func newStage(s settings, job string, view coord.View, out io.Writer) *stage {
	return &stage{
		settings: s, job: job, view: view,
		crew:   newCrew(),
		screen: newScreen(out),
		frames: time.NewTicker(time.Second / framesPerSecond),
		ledger: ledger{items: s.items},
	}
}

// close ends what is still alive, and takes the picture away.
func (s *stage) close() {
	s.crew.close()
	s.frames.Stop()
	s.screen.wipe()
}

// say adds a line to the story.
func (s *stage) say(format string, args ...any) {
	s.screen.say("%s  %s", time.Now().Format("15:04:05.0"), fmt.Sprintf(format, args...))
}

// await waits for something. Meanwhile it takes in every change of the tree and everything that
// an instance reports.
func (s *stage) await(ctx context.Context, what string, happened func() bool) error {
	giveUp := time.NewTimer(s.patience)
	defer giveUp.Stop()
	for {
		changed := s.view.Changed()
		s.look()
		switch {
		case s.fault != nil:
			return s.fault
		case happened():
			return nil
		case s.view.Err() != nil:
			return fmt.Errorf("follow the job: %w", s.view.Err())
		}
		select {
		case w := <-s.crew.heard:
			s.hear(w)
		case <-changed:
		case <-s.frames.C:
			width, _ := s.screen.size()
			s.screen.draw(s.board(width))
		case <-giveUp.C:
			return fmt.Errorf("waited %v in vain for %s", s.patience, what)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// look takes in the present state of the tree.
func (s *stage) look() {
	before := s.picture
	s.picture = newPicture(s.view.Snapshot(), s.job, s.items)
	for _, id := range before.instances {
		w := s.crew.byPID(pidOf(id))
		if !slices.Contains(s.picture.instances, id) && w != nil && w.fate != leaving && w.fate != left {
			s.ledger.losses++
		}
	}
	for item := range s.items {
		if before.owner != nil && before.owner[item] != s.picture.owner[item] {
			s.ledger.move(item, time.Now())
		}
		if s.picture.closed(item) {
			s.ledger.close(item, s.picture.token[item])
		}
	}
	leader := s.crew.byPID(pidOf(s.picture.leader))
	if leader != nil && s.picture.leader != before.leader {
		s.say("%s leads: it assigns the items", leader.name)
	}
}

// hear takes in what an instance says.
func (s *stage) hear(w word) {
	switch {
	case w.ended:
		s.ended(w.from, w.err)
	case w.report == nil:
		s.say("%s says: %s", w.from.name, w.says)
	default:
		s.enter(w.from, *w.report)
	}
}

func (s *stage) enter(w *worker, r report) {
	s.ledger.enter(w.name, r)
	if r.Result != nil && !s.results.put(r.Item, r.Token, *r.Result) {
		s.say("a result of %s for item %d was refused: its token %d is not the latest", w.name, r.Item, r.Token)
	}
	if through := s.ledger.through(); through.After(s.tick) {
		s.tick = through
		if !s.screen.live {
			s.say("%s", s.tickLine())
		}
	}
}

// tickLine says which instance ran which items. It is for output without a picture.
func (s *stage) tickLine() string {
	var b strings.Builder
	fmt.Fprintf(&b, "tick %s ", clock(s.tick))
	for _, w := range s.crew.workers {
		var ran []string
		for item := range s.items {
			for _, e := range s.ledger.of(item) {
				if e.worker == w.name && e.tick.Equal(s.tick) {
					ran = append(ran, sourceLetter(e)+fmt.Sprint(item))
				}
			}
		}
		if len(ran) > 0 {
			fmt.Fprintf(&b, "  %s: %s", w.name, strings.Join(ran, " "))
		}
	}
	return b.String()
}

func (s *stage) ended(w *worker, err error) {
	now := time.Now()
	s.ledger.died(w.name, now)
	w.gone = true
	var exit *exec.ExitError
	switch {
	case w.fate == killed:
	case w.fate == leaving && err == nil:
		w.fate, w.since = left, now
	case w.fate == leaving && errors.As(err, &exit) && exit.ExitCode() == errorCode:
		// It has printed why: it lost its session while it left. Others finish its items.
		w.fate, w.since = left, now
		s.ledger.losses++
	default:
		s.fault = fmt.Errorf("%s ended by itself: %v", w.name, err)
	}
}
