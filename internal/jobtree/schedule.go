package jobtree

import (
	"errors"
	"fmt"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
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
	Cron     string `yaml:"cron"`
	TimeZone string `yaml:"timeZone"`
	Misfire  bool   `yaml:"misfire"`
	// Unmonitored is whether MonitorExecution is off. While it is off nobody rewrites the
	// fired nodes. So once it is on again, they tell nothing about ticks before Since.
	Unmonitored bool `yaml:"unmonitored,omitempty"`
	// Broadcast is whether each instance has one item. Most items have no owner then, and nobody
	// moves their fired nodes.
	Broadcast bool `yaml:"broadcast,omitempty"`
	// Calendars are those that are in force, by name, with the sum of what each says:
	// holidays=0123456789abcdef, and commas between them.
	Calendars string `yaml:"calendars,omitempty"`
	// LeftOut is a hash of what they leave out together; "" if that is nothing, or if an older version has
	// written the document.
	LeftOut string    `yaml:"leftOut,omitempty"`
	Since   time.Time `yaml:"since"`
	// LastBefore is the last tick, up to Since, of the schedule that was in force before; zero if there is
	// none. An item that has not begun it is late for it, and not for what this schedule would have had.
	LastBefore time.Time `yaml:"lastBefore,omitempty"`
	// Forgone is whether LastBefore is not made up: misfire was off then, or nobody knows any more what the
	// calendars of that schedule said.
	Forgone bool `yaml:"forgone,omitempty"`
	// ExpiresAt and ExpiryTicks are how the configuration bounds the schedule; zero if it does not.
	ExpiresAt   time.Time `yaml:"expiresAt,omitempty"`
	ExpiryTicks int       `yaml:"expiryTicks,omitempty"`
	// Counted is since when ticks count for ExpiryTicks. It stays if only calendars change.
	Counted time.Time `yaml:"counted,omitempty"`
	// Until is the last moment for which there may be a tick, by both bounds; zero if there is none.
	Until time.Time `yaml:"until,omitempty"`
	// MakeUpTo is the end of a pause whose ticks are to be made up, also if misfire is off:
	// the last tick up to then stands for all. It is zero if there is nothing of the kind.
	MakeUpTo time.Time `yaml:"makeUpTo,omitempty"`
	Pause    `yaml:",inline"`
}

// Pause says that no tick begins until somebody resumes the job. It stands in the node of the
// schedule because every claim of a tick has the version of that node as a condition: so a
// pause holds from the commit that writes it, whatever others have seen by then.
type Pause struct {
	// Paused is when the job was paused; zero if it is not.
	Paused time.Time `yaml:"paused,omitempty"`
	// PausedBy and PausedWhy are free text, for people.
	PausedBy  string `yaml:"pausedBy,omitempty"`
	PausedWhy string `yaml:"pausedWhy,omitempty"`
	// MakeUp is whether the ticks of the pause are made up, once for all, when it ends.
	MakeUp bool `yaml:"makeUp,omitempty"`
	// PausedServers are the servers that were disabled with the pause, because JVM members
	// know no pause, with commas between them. They are enabled when it ends.
	PausedServers string `yaml:"pausedServers,omitempty"`
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

// EncodeSchedule writes the value of a schedule's node.
func EncodeSchedule(d ScheduleDocument) ([]byte, error) {
	for _, at := range []*time.Time{&d.Since, &d.LastBefore, &d.ExpiresAt, &d.Counted, &d.Until, &d.MakeUpTo, &d.Paused} {
		*at = at.UTC()
	}
	document, err := yaml.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("schedule %s: %w", brief.Quote(d.Cron), err)
	}
	return document, nil
}

func decodeSchedule(n coord.Node) *Schedule {
	document, err := readSchedule(n.Value)
	if err != nil {
		return &Schedule{Node: n, Err: fmt.Errorf("schedule: %w", err)}
	}
	return &Schedule{Node: n, ScheduleDocument: document}
}

func readSchedule(value []byte) (d ScheduleDocument, err error) {
	document, err := yamldoc.Parse(value)
	if errors.Is(err, yamldoc.ErrEmpty) {
		return d, nil
	}
	if err != nil {
		return d, err
	}
	for key, field := range map[string]any{
		"cron": &d.Cron, "timeZone": &d.TimeZone, "misfire": &d.Misfire, "unmonitored": &d.Unmonitored, "broadcast": &d.Broadcast, "calendars": &d.Calendars, "leftOut": &d.LeftOut,
		"since": &d.Since, "lastBefore": &d.LastBefore, "forgone": &d.Forgone,
		"expiresAt": &d.ExpiresAt, "expiryTicks": &d.ExpiryTicks, "counted": &d.Counted, "until": &d.Until, "makeUpTo": &d.MakeUpTo,
		"paused": &d.Paused, "pausedBy": &d.PausedBy, "pausedWhy": &d.PausedWhy, "makeUp": &d.MakeUp, "pausedServers": &d.PausedServers,
	} {
		n := document[key]
		if _, err := yamldoc.Text(n); err != nil {
			return ScheduleDocument{}, fmt.Errorf("%s: %w", key, err)
		}
		if yamldoc.IsNull(n) {
			continue
		}
		if err := n.Decode(field); err != nil {
			return ScheduleDocument{}, fmt.Errorf("%s: %w", key, brief.Error(err))
		}
	}
	return d, nil
}
