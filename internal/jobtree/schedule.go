package jobtree

import (
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
)

// Schedule is the node that says by which cron expression ticks are due, and since when.
// The leader writes it when the configuration has changed. So every instance agrees on the
// first tick of a new or changed schedule, and nobody makes up earlier ticks of it.
type Schedule struct {
	coord.Node
	ScheduleDocument
	// Err says why the document could not be read; it is zero then.
	Err error
}

// ScheduleDocument is the value of a schedule's node.
type ScheduleDocument struct {
	Cron     string `doc:"cron"`
	TimeZone string `doc:"timeZone"`
	Misfire  bool   `doc:"misfire,always"`
	// Unmonitored is whether MonitorExecution is off. While it is off nobody rewrites the
	// fired nodes. So once it is on again, they tell nothing about ticks before Since.
	Unmonitored bool `doc:"unmonitored"`
	// Broadcast is whether each instance has one item. Most items have no owner then, and nobody
	// moves their fired nodes.
	Broadcast bool `doc:"broadcast"`
	// Calendars are those that are in force, by name, with the sum of what each says:
	// holidays=0123456789abcdef, and commas between them.
	Calendars string `doc:"calendars"`
	// LeftOut is a hash of what they leave out together; "" if that is nothing, or if an older version has
	// written the document.
	LeftOut string    `doc:"leftOut"`
	Since   time.Time `doc:"since,exact"`
	// LastBefore is the last tick, up to Since, of the schedule that was in force before; zero if there is
	// none. An item that has not begun it is late for it, and not for what this schedule would have had.
	LastBefore time.Time `doc:"lastBefore,exact"`
	// Forgone is whether LastBefore is not made up: misfire was off then, or nobody knows any more what the
	// calendars of that schedule said.
	Forgone bool `doc:"forgone"`
	// ExpiresAt and ExpiryTicks are how the configuration bounds the schedule; zero if it does not.
	ExpiresAt   time.Time `doc:"expiresAt,exact"`
	ExpiryTicks int       `doc:"expiryTicks"`
	// Counted is since when ticks count for ExpiryTicks. It stays if only calendars change.
	Counted time.Time `doc:"counted,exact"`
	// Until is the last moment for which there may be a tick, by both bounds; zero if there is none.
	Until time.Time `doc:"until,exact"`
	// MakeUpTo is the end of a pause whose ticks are to be made up, also if misfire is off:
	// the last tick up to then stands for all. It is zero if there is nothing of the kind.
	MakeUpTo time.Time `doc:"makeUpTo,exact"`
	Pause
}

// Pause says that no tick begins until somebody resumes the job. It stands in the node of the
// schedule because every claim of a tick has the version of that node as a condition: so a
// pause holds from the commit that writes it, whatever others have seen by then.
type Pause struct {
	// Paused is when the job was paused; zero if it is not.
	Paused time.Time `doc:"paused,exact"`
	// PausedBy and PausedWhy are free text, for people.
	PausedBy  string `doc:"pausedBy"`
	PausedWhy string `doc:"pausedWhy"`
	// MakeUp is whether the ticks of the pause are made up, once for all, when it ends.
	MakeUp bool `doc:"makeUp"`
	// PausedServers are the servers that were disabled with the pause, because JVM members
	// know no pause, with commas between them. They are enabled when it ends.
	PausedServers string `doc:"pausedServers"`
}

// IsPaused reports whether no tick may begin.
func (p Pause) IsPaused() bool { return !p.Paused.IsZero() }

// Same reports whether two documents are about the same schedule, in the same words: they differ in
// nothing but since when it is in force, until when, and in pauses.
func (d ScheduleDocument) Same(other ScheduleDocument) bool {
	return d.SameTicks(other) && d.SameBeside(other)
}

// SameTicks reports whether two documents say in the same words when ticks are.
func (d ScheduleDocument) SameTicks(other ScheduleDocument) bool {
	return d.Cron == other.Cron && d.TimeZone == other.TimeZone && d.Calendars == other.Calendars
}

// SameBeside is Same without regard to when ticks are.
func (d ScheduleDocument) SameBeside(other ScheduleDocument) bool {
	return d.Misfire == other.Misfire && d.Unmonitored == other.Unmonitored && d.Broadcast == other.Broadcast &&
		d.ExpiresAt.Equal(other.ExpiresAt) && d.ExpiryTicks == other.ExpiryTicks
}

var schedules = newCodec[ScheduleDocument]("schedule", yamldoc.MaxSize, nil)

// EncodeSchedule writes the value of a schedule's node.
func EncodeSchedule(d ScheduleDocument) ([]byte, error) { return schedules.encodeBounded(d) }

func decodeSchedule(n coord.Node) *Schedule {
	s := &Schedule{Node: n}
	s.ScheduleDocument, s.Err = schedules.decode(n.Value)
	return s
}
