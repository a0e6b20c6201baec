package history

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// span is a stretch of time, often one in which something was done to a process or the store.
type span struct {
	process  string // empty: all of them
	from, to int64
	event    *Event
}

func (s span) about(process string) bool { return s.process == "" || s.process == process }

// timeline says what was done to the processes and the store, and when.
type timeline struct {
	events []Event
	offset int64 // nanoseconds from a wall time to the monotonic time of the same moment
	begin  int64
	quiet  int64 // when the observation ended

	pauses   []span // a process was stopped, by a signal or because the machine had no time for it
	slow     []span // the store took long to answer a process although neither had a fault
	troubles []span // everything that can end a session: faults, pauses, kills
	changes  []span // everything that can delay a tick: troubles, joins, leaves, operators
}

func newTimeline(events []Event) *timeline {
	t := &timeline{events: events, quiet: never}
	if len(events) == 0 {
		return t
	}
	first := events[0]
	t.begin, t.offset = first.Mono, first.Mono-first.Wall.UnixNano()
	last := events[len(events)-1].Mono
	open := map[string]int{} // the index in troubles of each pause or fault that has not ended
	for i := range events {
		e := &events[i]
		s := span{process: e.Process, from: cmp.Or(e.Call, e.Mono), to: e.Mono, event: e}
		switch e.Kind {
		case Quiet:
			t.quiet = min(t.quiet, e.Mono)
		case Pause, Fault:
			s.to = never
			open[string(e.Kind)+e.Name+e.Process] = len(t.troubles)
			t.troubles = append(t.troubles, s)
		case Resume, Heal:
			began := Fault
			if e.Kind == Resume {
				began = Pause
			}
			key := string(began) + e.Name + e.Process
			if at, ok := open[key]; ok {
				t.troubles[at].to = e.Mono
				delete(open, key)
			}
		case Kill, Stall:
			t.troubles = append(t.troubles, s)
		case Joined, Left, Leave, Disable, Enable, Configure, Remove, Pin, Unpin, Redeal:
			if e.Kind != Joined && e.Kind != Left && e.Kind != Leave {
				s.process = ""
			}
			t.changes = append(t.changes, s)
		}
	}
	if t.quiet == never {
		t.quiet = last
	}
	all := t.troubles
	t.troubles = slices.DeleteFunc(slices.Clone(all), t.asleep)
	for _, s := range t.troubles {
		switch s.event.Kind {
		case Stall:
			t.pauses, t.slow = append(t.pauses, s), append(t.slow, s)
			continue
		case Pause:
			t.pauses = append(t.pauses, span{process: s.process, from: s.from, to: awake(s, all), event: s.event})
		}
		t.changes = append(t.changes, delays(s)...)
	}
	t.findSlow()
	slices.SortFunc(t.changes, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	return t
}

// awake is when a process that a signal had stopped got time again: on a busy machine that is later
// than it was let go on.
func awake(pause span, troubles []span) int64 {
	to := pause.to
	for _, s := range troubles {
		if s.event.Kind == Stall && s.process == pause.process && s.from <= pause.to && pause.from <= s.to {
			to = max(to, s.to)
		}
	}
	return to
}

// asleep reports whether a process noticed a stall because a signal had stopped it.
func (t *timeline) asleep(stall span) bool {
	return stall.event.Kind == Stall && slices.ContainsFunc(t.troubles, func(s span) bool {
		return s.event.Kind == Pause && s.process == stall.process && s.from <= stall.to && s.to >= stall.from
	})
}

// StoppedMember ends the name of a fault in which a signal stops a member of the store.
const StoppedMember = "stopped by a signal"

// wronglyDropped reports whether the store dropped the session of an execution although it
// lived, shortly before another execution started. A leader of etcd that was stopped by a
// signal does so at times when it goes on: for a moment it takes itself for the leader yet,
// and revokes the leases that were renewed meanwhile (etcd issue 15247, whose mend leaves a
// gap). The process knows as soon as the store has told it.
func (t *timeline) wronglyDropped(x *execution, started int64) bool {
	if x.cut == nil || !strings.Contains(x.cut.Cause, "session lost") {
		return false
	}
	return slices.ContainsFunc(t.troubles, func(s span) bool {
		return s.event.Kind == Fault && strings.HasSuffix(s.event.Name, StoppedMember) &&
			s.to <= started && x.until() <= s.to+int64(wakeTime)
	})
}

// slowAnswer is when an answer of the store is late enough to be counted.
const slowAnswer = 100 * time.Millisecond

// findSlow lists when the store was slow. Answers that a fault delayed do not count.
func (t *timeline) findSlow() {
	for i := range t.events {
		e := &t.events[i]
		if e.Kind != Slow && e.Kind != Commit || time.Duration(e.Mono-e.Call) < slowAnswer {
			continue
		}
		if !slices.ContainsFunc(t.troubles, func(s span) bool {
			return s.event.Kind != Stall && s.about(e.Process) && s.from <= e.Mono && s.to >= e.Call
		}) {
			t.slow = append(t.slow, span{process: e.Process, from: e.Call, to: e.Mono, event: e})
		}
	}
	t.slow = union(t.slow)
}

// union merges spans that overlap.
func union(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var merged []span
	for _, s := range spans {
		if n := len(merged); n > 0 && s.from <= merged[n-1].to {
			merged[n-1].to = max(merged[n-1].to, s.to)
		} else {
			merged = append(merged, s)
		}
	}
	return merged
}

// clip returns the parts of spans within a stretch of time.
func clip(spans []span, from, to int64) []span {
	var parts []span
	for _, s := range spans {
		if s.from < to && s.to > from {
			parts = append(parts, span{from: max(s.from, from), to: min(s.to, to)})
		}
	}
	return parts
}

// total is the length of spans that do not overlap.
func total(spans []span) (length int64) {
	for _, s := range spans {
		length += s.to - s.from
	}
	return length
}

// delays lists when a trouble can delay ticks. One of the store does as long as it lasts. One
// of a process does when it begins, until the others know of it, and when it ends.
func delays(s span) []span {
	if s.process == "" {
		return []span{s}
	}
	begin, end := s, s
	begin.to = begin.from
	end.from = end.to
	if s.to == never {
		return []span{begin}
	}
	return []span{begin, end}
}

// mono is the monotonic time of a wall time.
func (t *timeline) mono(wall time.Time) int64 { return wall.UnixNano() + t.offset }

// troubled returns what was done to a process, or to the store, between two moments.
func (t *timeline) troubled(process string, from, to int64) []*Event {
	var list []*Event
	for _, s := range t.troubles {
		if s.about(process) && s.from <= to && s.to >= from {
			list = append(list, s.event)
		}
	}
	return list
}

// faults is troubled without stalls, which come from the machine.
func (t *timeline) faults(process string, from, to int64) []*Event {
	return slices.DeleteFunc(t.troubled(process, from, to), func(e *Event) bool { return e.Kind == Stall })
}

// regime is a stretch of time in which a job had one set of rules.
type regime struct {
	Rules
	from, to int64
	event    *Event
}

// regimes lists those of a job, in the order of time.
func (t *timeline) regimes(job string) []regime {
	var list []regime
	end := func(at int64) {
		if n := len(list); n > 0 && list[n-1].to == never {
			list[n-1].to = at
		}
	}
	for i := range t.events {
		e := &t.events[i]
		if e.Job != job {
			continue
		}
		switch e.Kind {
		case Configure:
			end(cmp.Or(e.Call, e.Mono))
			list = append(list, regime{Rules: *e.Rules, from: e.Mono, to: never, event: e})
		case Remove:
			end(cmp.Or(e.Call, e.Mono))
			if n := len(list); n > 0 && e.Err != "" { // it may be there still; nothing has to run
				unsure := regime{Rules: list[n-1].Rules, from: e.Mono, to: never, event: e}
				unsure.Every = 0
				list = append(list, unsure)
			}
		}
	}
	return list
}

// at returns the rules of a job at a time, or its first ones if that is before them.
func at(regimes []regime, mono int64) Rules {
	var rules Rules
	for i, r := range regimes {
		if i == 0 || r.from <= mono {
			rules = r.Rules
		}
	}
	return rules
}

// switchedOff lists when an operator had an item disabled.
func (t *timeline) switchedOff(s subject) []span {
	var list []span
	for i := range t.events {
		e := &t.events[i]
		if e.Job != s.job || e.Item != s.item {
			continue
		}
		n := len(list)
		switch {
		case e.Kind == Disable:
			list = append(list, span{from: cmp.Or(e.Call, e.Mono), to: never, event: e})
		case e.Kind == Enable && n > 0 && list[n-1].to == never:
			list[n-1].to = e.Mono
		}
	}
	return list
}
