package calendar

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"iter"
	"slices"
	"time"
)

// Calendar says which times are left out. It never changes, and is safe for concurrent use.
type Calendar struct {
	document string
	sum      string
	zone     *time.Location
	spans    []span // what is left out, ascending; none touches the next
}

// span is the time from an instant up to another, without that, in seconds since 1970.
type span struct{ from, to int64 }

// Document returns what was parsed.
func (c *Calendar) Document() []byte { return []byte(c.document) }

// Sum returns a short hash of the document: 16 hexadecimal digits.
func (c *Calendar) Sum() string { return c.sum }

// Location returns the zone of the calendar. Its name is the one in the document; that of an offset is written in full.
func (c *Calendar) Location() *time.Location { return c.zone }

// Meaning returns a short hash of what calendars leave out together, and nothing else: comments, names, and other
// ways to say the same do not matter. It is "" if they leave out nothing.
func Meaning(calendars ...*Calendar) string {
	var spans []span
	for _, c := range calendars {
		spans = append(spans, c.spans...)
	}
	if len(calendars) > 1 {
		spans = merge(spans)
	}
	if len(spans) == 0 {
		return ""
	}
	h := sha256.New()
	var bytes [16]byte
	for _, s := range spans {
		binary.BigEndian.PutUint64(bytes[:8], uint64(s.from))
		binary.BigEndian.PutUint64(bytes[8:], uint64(s.to))
		_, _ = h.Write(bytes[:]) // a hash returns no error
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func sumOf(document []byte) string {
	sum := sha256.Sum256(document)
	return hex.EncodeToString(sum[:8])
}

// Excluded reports whether a time is left out, and until when everything is. until is zero if
// the time is not left out, or if there is no end.
func (c *Calendar) Excluded(t time.Time) (until time.Time, out bool) {
	s, out := c.around(t.Unix())
	if !out || s.to > farAhead-day { // no schedule has ticks after that
		return time.Time{}, out
	}
	return time.Unix(s.to, 0).In(t.Location()), true
}

// Span is a time that is left out: from From on, and before To.
type Span struct{ From, To time.Time }

// Spans returns what is left out of the time from one instant up to another, in its order and in the zone of the
// calendar. What begins before or ends after that is cut there.
func (c *Calendar) Spans(from, to time.Time) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		begin, end := from.Unix(), to.Unix()
		n, _ := slices.BinarySearchFunc(c.spans, begin, func(s span, at int64) int { return cmp.Compare(s.to, at+1) })
		for _, s := range c.spans[n:] {
			if max(s.from, begin) >= end || !yield(Span{time.Unix(max(s.from, begin), 0).In(c.zone), time.Unix(min(s.to, end), 0).In(c.zone)}) {
				return
			}
		}
	}
}

// around returns the span that has an instant.
func (c *Calendar) around(at int64) (span, bool) {
	n, _ := slices.BinarySearchFunc(c.spans, at, func(s span, at int64) int { return cmp.Compare(s.to, at+1) })
	if n == len(c.spans) || c.spans[n].from > at {
		return span{}, false
	}
	return c.spans[n], true
}

// merge sorts spans, and joins those that touch.
func merge(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	merged := spans[:0]
	for _, s := range spans {
		if last := len(merged) - 1; last >= 0 && s.from <= merged[last].to {
			merged[last].to = max(merged[last].to, s.to)
		} else {
			merged = append(merged, s)
		}
	}
	return slices.Clip(merged)
}

// complement returns all the time that merged spans leave.
func complement(spans []span) []span {
	var rest []span
	from := int64(longAgo)
	for _, s := range spans {
		if s.from > from {
			rest = append(rest, span{from, s.from})
		}
		from = s.to
	}
	if from < farAhead {
		rest = append(rest, span{from, farAhead})
	}
	return rest
}
