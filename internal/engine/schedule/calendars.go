package schedule

import (
	"errors"
	"fmt"
	"slices"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/engine/pool"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Follower follows the calendars of one job.
type Follower struct {
	source   pool.Source
	log      *zap.Logger
	joined   bool             // the source follows calendars for this job
	read     []*pool.Calendar // as the source had them last
	settings *setup.Settings  // those that go by them
	leftOut  string           // the calendars by which the ticks went last, for the log
	former   former
}

// NewFollower returns a follower. source is nil if no calendars can be read.
func NewFollower(source pool.Source, log *zap.Logger) *Follower {
	return &Follower{source: source, log: log}
}

// Apply returns the settings with the ticks that the calendars leave now: s itself if nothing has changed.
func (f *Follower) Apply(s *setup.Settings) *setup.Settings {
	if len(s.Calendars) == 0 {
		f.Leave()
		return s
	}
	if f.source == nil {
		return s
	}
	f.joined = true
	read := f.source.Of(s.Calendars)
	if f.settings == s && slices.Equal(read, f.read) {
		return s
	}
	next := *s
	setup.ApplyCalendars(&next.Rules, next.Ticks, s.Calendars, read)
	f.read, f.settings = read, &next
	if named := next.Rules.NamedCalendars(); named != f.leftOut && next.Rules.KnowsCalendars() {
		f.leftOut = named
		f.log.Info("ticks go by calendars", zap.String("calendars", named))
	}
	return &next
}

// Leave tells the source that the job names no calendars, or has ended.
func (f *Follower) Leave() {
	if f.joined {
		f.source.Leave()
		f.joined, f.read, f.settings, f.leftOut = false, nil, nil, ""
	}
}

// Fault says which calendars cannot be read; nil if all can.
func (f *Follower) Fault(job jobtree.Job) error {
	var errs []error
	for i, k := range f.read {
		if err := k.Fault(f.settings.Calendars[i]); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return fmt.Errorf("job %s: %w", job, errors.Join(errs...))
}

// CannotFollow reports whether this instance cannot go by its own configuration, s: it has tried to read a
// calendar and knows nothing of it, or remembers it otherwise than it is recorded. Then others get its
// items, if they can.
func (f *Follower) CannotFollow(recorded *jobtree.Schedule, s *setup.Settings) bool {
	lacks := func(k *pool.Calendar) bool { return k != nil && k.Good() == nil }
	return slices.ContainsFunc(f.read, lacks) || s.Rules.RemembersOtherCalendar(recorded)
}
