package history

import "cmp"

// breaks lists when the store was put back, or somebody tampered with the tree of a job.
// After a break ticks may run again, tokens may be smaller, and what had begun may be
// forgotten or done twice.
func (t *timeline) breaks(job string) []span {
	var list []span
	for i := range t.events {
		e := &t.events[i]
		if e.Kind == Restore || e.Kind == Tamper && e.Job == job {
			list = append(list, span{from: cmp.Or(e.Call, e.Mono), to: e.Mono, event: e})
		}
	}
	return list
}

// epoch is the executions of an item that began between two breaks.
type epoch struct {
	runs  []*execution // in the order of their tokens
	first bool         // no break was before it
	end   int64        // when the break after it began, or the observation ended
}

// epochs divides executions, which are in the order of their tokens. It leaves out those that
// began during a break, because it cannot know whether they were claimed before or after it.
func (t *timeline) epochs(breaks []span, runs []*execution) []epoch {
	list := make([]epoch, len(breaks)+1)
	for i := range list {
		list[i].first, list[i].end = i == 0, t.quiet
		if i < len(breaks) {
			list[i].end = min(t.quiet, breaks[i].from)
		}
	}
next:
	for _, x := range runs {
		at := 0
		for i, b := range breaks {
			if b.from <= x.began() && x.decided() <= b.to {
				continue next
			}
			if x.began() > b.to {
				at = i + 1
			}
		}
		list[at].runs = append(list[at].runs, x)
	}
	return list
}

// decided is when the execution was claimed, as far as that is known.
func (x *execution) decided() int64 {
	if x.claim != nil && x.claim.Call > 0 {
		return x.claim.Call
	}
	return x.began()
}

// overlapping returns the spans that have a part in a stretch of time.
func overlapping(spans []span, from, to int64) []span {
	var list []span
	for _, s := range spans {
		if s.from <= to && s.to >= from {
			list = append(list, s)
		}
	}
	return list
}
