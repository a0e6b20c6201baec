package jobtree

import (
	"fmt"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Schedule is what decides which ticks are due, and since when it has been in force.
// The leader writes it when it finds that the configuration says something else, so
// that every instance agrees on the first tick of a new or changed schedule: ticks
// before that are never made up.
type Schedule struct {
	coord.Node
	ScheduleDocument
	// Err says why the document could not be read; it is zero then.
	Err error
}

// ScheduleDocument is the value of a schedule's node.
type ScheduleDocument struct {
	Cron     string    `yaml:"cron"`
	TimeZone string    `yaml:"timeZone"`
	Misfire  bool      `yaml:"misfire"`
	Since    time.Time `yaml:"since"`
}

// Same reports whether the two say the same but for the time.
func (d ScheduleDocument) Same(other ScheduleDocument) bool {
	d.Since = other.Since
	return d == other
}

// EncodeSchedule writes the value of a schedule's node.
func EncodeSchedule(d ScheduleDocument) ([]byte, error) {
	d.Since = d.Since.UTC()
	document, err := yaml.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("schedule %q: %w", d.Cron, err)
	}
	return document, nil
}

func decodeSchedule(n coord.Node) *Schedule {
	s := &Schedule{Node: n}
	if err := yaml.Unmarshal(n.Value, &s.ScheduleDocument); err != nil {
		s.ScheduleDocument = ScheduleDocument{}
		s.Err = fmt.Errorf("schedule: %w", err)
	}
	return s
}
