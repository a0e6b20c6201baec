package jobtree

import (
	"bytes"
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// Fired is the node with the last tick of an item that was begun. Every claim of the item
// rewrites it, and nobody removes it while the item exists. So its Modified is the fencing
// token of the latest claim, and a commit on condition of its Version fails if somebody
// else has claimed the item.
type Fired struct {
	coord.Node
	// Tick is the last tick begun; zero if it is unknown, and nothing can be made up then.
	Tick time.Time
	// Run is the tick that the latest claim is for. It differs from Tick if a run was cut
	// short and is run again after later ticks, and if a run was triggered.
	Run time.Time
	// Err says why the value could not be read; Tick is zero then.
	Err error
}

const firedLayout = "2006-01-02T15:04:05.000Z07:00"

// EncodeFired writes a tick, in UTC with milliseconds. It writes the zero time, which means
// unknown, as an empty value.
func EncodeFired(tick time.Time) []byte {
	if tick.IsZero() {
		return nil
	}
	return tick.UTC().AppendFormat(make([]byte, 0, len("2006-01-02T15:04:05.000Z")), firedLayout)
}

// EncodeClaim writes the last tick begun and, if the claim is for another tick, a space and
// that tick.
func EncodeClaim(tick, run time.Time) []byte {
	value := EncodeFired(tick)
	if run.IsZero() || run.Equal(tick) {
		return value
	}
	return append(append(value, ' '), EncodeFired(run)...)
}

func decodeFired(value []byte) (tick, run time.Time, err error) {
	first, second, found := bytes.Cut(value, []byte(" "))
	if tick, err = DecodeFired(first); err != nil || !found {
		return tick, tick, err
	}
	if run, err = DecodeFired(second); err != nil {
		return time.Time{}, time.Time{}, err
	}
	return tick, run, nil
}

// DecodeFired reads a tick in RFC 3339, in any zone and with any precision. An empty
// value is the zero time.
func DecodeFired(value []byte) (time.Time, error) {
	tick, err := parseTime(string(value))
	if err != nil {
		return time.Time{}, fmt.Errorf("last tick %w", err)
	}
	return tick, nil
}

// parseTime reads a time in RFC 3339. An empty text is the zero time.
func parseTime(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%s: RFC 3339 is allowed, such as %s", brief.Quote(text), firedLayout)
	}
	return t.UTC(), nil
}
