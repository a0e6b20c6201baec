package calendar

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
)

// MaxSize bounds a document in bytes, so that a node of every store holds it.
const MaxSize = 512 << 10

const (
	maxDates   = 10_000
	maxWindows = 100
	maxTimes   = 500_000 // how often all entries come true together
)

var errTooMany = fmt.Errorf("all entries together come true more than %d times", maxTimes)

// reader collects what a document leaves out.
type reader struct {
	loc   *time.Location
	zone  zone // of loc
	times int  // how often entries have come true
	spans []span
}

// Parse reads a document. An error names the key, and the line where there is one.
func Parse(document []byte) (*Calendar, error) {
	if len(document) > MaxSize {
		return nil, fmt.Errorf("calendar of %d bytes, at most %d are allowed", len(document), MaxSize)
	}
	keys, err := yamldoc.Parse(document)
	if err != nil {
		return nil, fmt.Errorf("calendar: %w", err)
	}
	r := &reader{}
	read := map[string]func(*yaml.Node) error{"timeZone": r.timeZone, "dates": r.dates, "weekly": r.weekly, "only": r.only, "icalendar": r.icalendar}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if read[key] == nil {
			return nil, fmt.Errorf("calendar: line %d: the key %s is not known; timeZone, dates, weekly, only and icalendar are", keys[key].Line, brief.Quote(key))
		}
	}
	for _, key := range []string{"timeZone", "dates", "weekly", "only", "icalendar"} { // all others need the zone
		if err := read[key](keys[key]); err != nil {
			return nil, fmt.Errorf("calendar: %s: %w", key, brief.Error(err))
		}
	}
	return &Calendar{document: string(document), sum: sumOf(document), zone: r.loc, spans: merge(r.spans)}, nil
}

func (r *reader) timeZone(n *yaml.Node) error {
	name, err := yamldoc.Text(n)
	if err == nil {
		r.loc, err = loadZone(name)
	}
	if err == nil {
		r.zone = zoneOf(r.loc)
	}
	return at(n, err)
}

// at adds the line of a node to an error.
func at(n *yaml.Node, err error) error {
	if err == nil || n == nil {
		return err
	}
	return fmt.Errorf("line %d: %w", n.Line, err)
}

// each reads the texts of a list. An error has the line and the text.
func each(list *yaml.Node, most int, read func(text string) error) error {
	if yamldoc.IsNull(list) {
		return nil
	}
	if list.Kind != yaml.SequenceNode || len(list.Content) > most {
		return at(list, fmt.Errorf("a list of at most %d is allowed", most))
	}
	for _, n := range list.Content {
		n = yamldoc.Resolve(n)
		text, err := yamldoc.Text(n)
		if err == nil && strings.TrimSpace(text) == "" {
			err = errors.New("is empty")
		}
		if err == nil {
			if err = read(strings.TrimSpace(text)); err != nil {
				err = fmt.Errorf("%s: %w", brief.Quote(text), err)
			}
		}
		if err != nil {
			return at(n, err)
		}
	}
	return nil
}

// leaveOut adds spans.
func (r *reader) leaveOut(spans ...span) error {
	if r.times += len(spans); r.times > maxTimes {
		return errTooMany
	}
	for _, s := range spans {
		s = span{max(s.from, longAgo), min(s.to, farAhead)}
		if last := len(r.spans) - 1; s.from >= s.to {
			continue
		} else if last >= 0 && r.spans[last].from <= s.from && s.from <= r.spans[last].to {
			r.spans[last].to = max(r.spans[last].to, s.to)
		} else {
			r.spans = append(r.spans, s)
		}
	}
	return nil
}
