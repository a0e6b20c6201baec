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
// first tick of a new or changed schedule, and nobody makes up ticks before that.
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
	Unmonitored bool      `yaml:"unmonitored,omitempty"`
	Since       time.Time `yaml:"since"`
}

// Same reports whether two documents differ in nothing but Since.
func (d ScheduleDocument) Same(other ScheduleDocument) bool {
	d.Since = other.Since
	return d == other
}

// EncodeSchedule writes the value of a schedule's node.
func EncodeSchedule(d ScheduleDocument) ([]byte, error) {
	d.Since = d.Since.UTC()
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
	for key, field := range map[string]any{"cron": &d.Cron, "timeZone": &d.TimeZone, "misfire": &d.Misfire, "unmonitored": &d.Unmonitored, "since": &d.Since} {
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
