package engine

import (
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/engine/pool"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job/calendar"
)

// modelCalendar is the calendar that the job of a model goes by.
const modelCalendar = "holidays"

// modelDocuments are what it may say. The time of a model begins at 10:00.
var modelDocuments = []string{
	"timeZone: UTC\n",
	"timeZone: UTC\nweekly: ['10:01-10:02', '10:04-10:06']\n",
	"timeZone: UTC\nonly: ['10:01-10:02', '10:04-10:06', '10:20-09:00']\n",
}

// modelCalendars is what a member sees of the calendar: an old state, until it looks again.
type modelCalendars struct {
	p    *member
	at   int64
	last *pool.Calendar
}

func (s *modelCalendars) Of([]string) []*pool.Calendar {
	m := s.p.m
	switch {
	case m.calm:
		s.at = m.store.Revision()
	case s.last == nil && rapid.IntRange(0, 3).Draw(m.t, "calendars are unread") == 0:
		return []*pool.Calendar{nil}
	case rapid.Bool().Draw(m.t, "calendars are read"):
		s.at = rapid.Int64Range(s.at, m.store.Revision()).Draw(m.t, "as they were at")
	}
	n, _ := m.history[s.at-m.first].Get(jobtree.Calendar(modelCalendar))
	read := m.calendars[n.Modified]
	if read == nil {
		read = s.last.Next(n, nil)
		if read.IsCurrent() { // else it also has what this member has read before
			m.calendars[n.Modified] = read
		}
	}
	s.last = read
	return []*pool.Calendar{s.last}
}

func (s *modelCalendars) Leave() {}

// putCalendar writes the calendar.
func (m *model) putCalendar() {
	document := rapid.SampledFrom(modelDocuments).Draw(m.t, "calendar")
	m.logf("operator: calendar %q", document)
	m.operate(coord.Put(jobtree.Calendar(modelCalendar), []byte(document)))
}

// doCalendar writes the calendar, or takes it away, or makes it unreadable.
func (m *model) doCalendar() {
	switch rapid.IntRange(0, 5).Draw(m.t, "how") {
	case 0:
		m.logf("operator: the calendar goes")
		m.operate(coord.DeleteTree(jobtree.Calendar(modelCalendar)))
	case 1:
		m.logf("operator: the calendar cannot be read")
		m.operate(coord.Put(jobtree.Calendar(modelCalendar), []byte("x")))
	default:
		m.putCalendar()
	}
}

// checkCalendar checks that a tick that begins is not left out by what is recorded.
func (m *model) checkCalendar(item int, tick time.Time, recorded string) {
	if !m.how.calendars {
		return
	}
	for _, document := range modelDocuments {
		c, err := calendar.Parse([]byte(document))
		if err != nil {
			m.t.Fatal(err)
		}
		if !strings.Contains(recorded, modelCalendar+"="+c.Sum()) {
			continue
		}
		if _, out := c.Excluded(tick); out {
			m.fatalf("item %d begins for %s, which the calendar %q leaves out", item, tick, document)
		}
		return
	}
	m.fatalf("item %d begins by the calendars %q", item, recorded)
}
