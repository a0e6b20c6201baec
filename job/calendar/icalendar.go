package calendar

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
)

const (
	maxEvents = 10_000
	maxRules  = 300
	maxZones  = 50 // in one file
)

// FromICalendar returns the calendar that leaves out the events of an iCalendar file. zone is
// that of days, and of times that have none; see the key timeZone. Its document holds the file.
func FromICalendar(zone string, file []byte) (*Calendar, error) {
	if !utf8.Valid(file) {
		return nil, errors.New("calendar: icalendar: only UTF-8 is allowed")
	}
	document, err := yaml.Marshal(struct {
		TimeZone  string `yaml:"timeZone"`
		ICalendar string `yaml:"icalendar"`
	}{zone, strings.ReplaceAll(string(file), "\r\n", "\n")})
	if err != nil {
		return nil, fmt.Errorf("calendar: icalendar: %w", err)
	}
	return Parse(document)
}

// file is an iCalendar file that is read.
type file struct {
	*reader
	zones  map[string]zone // by TZID
	events []*event
	rules  int
}

// icalendar reads the text of an iCalendar file.
func (r *reader) icalendar(n *yaml.Node) error {
	text, err := yamldoc.Text(n)
	if err != nil || yamldoc.IsNull(n) {
		return at(n, err)
	}
	f := &file{reader: r, zones: map[string]zone{}}
	if err := f.read(text); err != nil {
		return err
	}
	return f.leaveOut()
}

// read reads the events. An error has the line in the file.
func (f *file) read(text string) error {
	var open []string // the components around a line
	var current *event
	for number, line := range contentLines(text) {
		p, err := parseProperty(line)
		if err == nil {
			switch {
			case p.name == "BEGIN":
				if len(open) == 0 != (p.value == "VCALENDAR") || len(open) > 10 {
					err = errors.New("VCALENDAR is outside of everything, and only that")
				}
				open = append(open, p.value)
				if p.value == "VEVENT" && len(open) == 2 {
					current = &event{line: number}
					f.events = append(f.events, current)
					if len(f.events) > maxEvents {
						err = fmt.Errorf("more than %d events", maxEvents)
					}
				}
			case len(open) == 0:
				err = errors.New("BEGIN:VCALENDAR is expected")
			case p.name == "END":
				if open[len(open)-1] != p.value {
					err = fmt.Errorf("END:%s is expected", brief.Text(open[len(open)-1]))
				}
				open = open[:len(open)-1]
			case len(open) == 2 && open[1] == "VEVENT":
				err = f.property(current, p)
			}
		}
		if err != nil {
			return fmt.Errorf("line %d, %s: %w", number, brief.Quote(line), err)
		}
	}
	if len(open) > 0 || len(f.events) == 0 {
		return errors.New("a whole VCALENDAR with at least one VEVENT is expected")
	}
	return nil
}

// contentLines goes over the lines of a file with their numbers. A line that begins with a
// space or a tab belongs to the one before.
func contentLines(text string) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		var line strings.Builder
		begun, number := 0, 0
		for next := range strings.Lines(text) {
			number++
			next = strings.TrimRight(next, "\r\n")
			if next != "" && (next[0] == ' ' || next[0] == '\t') && begun > 0 {
				line.WriteString(next[1:])
				continue
			}
			if line.Len() > 0 && !yield(begun, line.String()) {
				return
			}
			line.Reset()
			line.WriteString(next)
			begun = number
		}
		if line.Len() > 0 {
			yield(begun, line.String())
		}
	}
}

// property is a line of a file.
type property struct {
	name       string
	parameters map[string]string
	value      string
}

var errProperty = errors.New("NAME;PARAMETER=value:value is expected")

// parseProperty reads a line. Of a parameter with several values it keeps the text.
func parseProperty(line string) (p property, err error) {
	end := strings.IndexAny(line, ";:")
	if end <= 0 {
		return p, errProperty
	}
	p.name = strings.ToUpper(line[:end])
	for line[end] == ';' {
		line = line[end+1:]
		name, rest, ok := strings.Cut(line, "=")
		if !ok {
			return p, errProperty
		}
		isQuoted := false
		end = strings.IndexFunc(rest, func(r rune) bool {
			isQuoted = isQuoted != (r == '"')
			return !isQuoted && (r == ';' || r == ':')
		})
		if end < 0 {
			return p, errProperty
		}
		if p.parameters == nil {
			p.parameters = map[string]string{}
		}
		p.parameters[strings.ToUpper(name)] = strings.Trim(rest[:end], `"`)
		line = rest
	}
	p.value = strings.TrimSpace(line[end+1:])
	if slices.Contains([]string{"BEGIN", "END", "STATUS"}, p.name) {
		p.value = strings.ToUpper(p.value)
	}
	return p, nil
}

// zoneOf returns the zone of a TZID.
func (f *file) zoneOf(tzid string) (zone, error) {
	if z, isKnown := f.zones[tzid]; isKnown {
		return z, nil
	}
	if len(f.zones) == maxZones {
		return nil, fmt.Errorf("more than %d zones", maxZones)
	}
	loc, err := loadZone(tzid)
	if err != nil {
		return nil, fmt.Errorf("TZID: %w", err)
	}
	f.zones[tzid] = zoneOf(loc)
	return f.zones[tzid], nil
}
