package cronexpr

import (
	"sort"
	"time"
)

// timeline says which instant a wall clock time is in one zone, over the years of a
// schedule. Where clocks are put back, a wall that is shown twice is the second instant;
// where they are put forward, a wall that is skipped has no instant. So every wall has
// one instant at most, and later walls have later instants.
type timeline []segment

// segment is a stretch of a timeline with the same distance from UTC.
type segment struct {
	end                int64 // the instant at which the next segment begins
	startWall, endWall int64 // the walls whose instants lie in it, without endWall
	offset             int64 // wall - instant, in seconds
}

const (
	// maxOffset is more seconds than any zone is ever away from UTC.
	maxOffset = secondsPerDay
	// longAgo is where the first segment begins, farAhead where the last one ends.
	longAgo, farAhead = minWall - 4*maxOffset, maxWall + 4*maxOffset
)

func newTimeline(loc *time.Location) timeline {
	var all timeline
	for at := int64(minWall - maxOffset); at < farAhead; {
		t := time.Unix(at, 0).In(loc)
		_, shift := t.Zone()
		seg := segment{end: offsetEnd(t), startWall: at + int64(shift), offset: int64(shift)}
		if all == nil {
			seg.startWall = longAgo
		}
		all = append(all, seg)
		at = seg.end
	}
	bound := int64(farAhead) // the walls from here on belong to later segments
	for i := len(all) - 1; i >= 0; i-- {
		all[i].endWall = min(all[i].end+all[i].offset, bound)
		bound = min(all[i].startWall, bound)
	}
	return all
}

// offsetEnd returns an instant after t until which the zone of t keeps its offset.
func offsetEnd(t time.Time) int64 {
	_, end := t.ZoneBounds()
	switch {
	case end.IsZero() || end.Unix() > maxWall+maxOffset:
		return farAhead
	case !end.After(t):
		// Where a zone file covers a year by a rule, Go 1.26 counts 365 days, also in a
		// leap year: on the 366th it returns an end in the past (golang/go#81583).
		return (t.Unix()/secondsPerDay + 1) * secondsPerDay
	}
	return end.Unix()
}

// at returns the segment of an instant.
func (tl timeline) at(unix int64) segment {
	return tl[sort.Search(len(tl)-1, func(i int) bool { return tl[i].end > unix })]
}

// wallFrom returns the first wall that is no earlier than the instant.
func (tl timeline) wallFrom(unix int64) int64 {
	seg := tl.at(unix)
	return min(unix+seg.offset, seg.endWall)
}

// wallUpTo returns the last wall that is no later than the instant.
func (tl timeline) wallUpTo(unix int64) int64 {
	seg := tl.at(unix)
	return min(unix+seg.offset, seg.endWall-1)
}

// instant returns the instant of a wall; ok is false if the wall is skipped.
func (tl timeline) instant(wall int64) (unix int64, ok bool) {
	seg := tl[tl.endingAfter(wall)]
	return wall - seg.offset, wall >= seg.startWall
}

// around returns the last wall before a skipped one, and the first after it, that have
// an instant.
func (tl timeline) around(skipped int64) (before, after int64) {
	i := tl.endingAfter(skipped)
	return tl[i-1].endWall - 1, tl[i].startWall
}

// endingAfter returns the index of the first segment that ends after the wall.
func (tl timeline) endingAfter(wall int64) int {
	return sort.Search(len(tl)-1, func(i int) bool { return tl[i].endWall > wall })
}
