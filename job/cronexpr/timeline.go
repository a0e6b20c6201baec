package cronexpr

import (
	"sort"
	"time"
)

// timeline is a zone over all the years that a schedule lives in: which wall
// clock time is which instant. Where clocks are put back, the walls that are
// shown twice mean the second time; where they are put forward, the walls that
// are skipped mean nothing. So every wall has one instant at most, and later
// walls have later instants.
type timeline []segment

// segment is a stretch of a timeline with the same distance from UTC.
type segment struct {
	end                int64 // the instant at which the next segment begins
	startWall, endWall int64 // the walls that it gives a meaning, endWall not included
	offset             int64 // wall - instant, in seconds
}

const (
	// maxOffset is more than any zone is ever away from UTC, in seconds.
	maxOffset = secondsPerDay
	// longAgo and farAhead are where the first segment begins and the last one ends.
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

// offsetEnd is an instant after t up to which the zone of t keeps its offset.
func offsetEnd(t time.Time) int64 {
	_, end := t.ZoneBounds()
	switch {
	case end.IsZero() || end.Unix() > maxWall+maxOffset:
		return farAhead
	case !end.After(t):
		// In years that the zone file covers by a rule, Go 1.26 takes a year for
		// 365 days, and ends the 366th before it begins (golang/go#81583).
		return (t.Unix()/secondsPerDay + 1) * secondsPerDay
	}
	return end.Unix()
}

// at is the segment that holds the instant.
func (tl timeline) at(unix int64) segment {
	return tl[sort.Search(len(tl)-1, func(i int) bool { return tl[i].end > unix })]
}

// wallFrom is the first wall that is no earlier than the instant.
func (tl timeline) wallFrom(unix int64) int64 {
	seg := tl.at(unix)
	return min(unix+seg.offset, seg.endWall)
}

// wallUpTo is the last wall that is no later than the instant.
func (tl timeline) wallUpTo(unix int64) int64 {
	seg := tl.at(unix)
	return min(unix+seg.offset, seg.endWall-1)
}

// instant is the moment that a wall means, if it means one.
func (tl timeline) instant(wall int64) (unix int64, ok bool) {
	seg := tl[tl.endingAfter(wall)]
	return wall - seg.offset, wall >= seg.startWall
}

// around are the walls next to a skipped one that do have an instant.
func (tl timeline) around(skipped int64) (before, after int64) {
	i := tl.endingAfter(skipped)
	return tl[i-1].endWall - 1, tl[i].startWall
}

// endingAfter is the index of the first segment with walls after the given one.
func (tl timeline) endingAfter(wall int64) int {
	return sort.Search(len(tl)-1, func(i int) bool { return tl[i].endWall > wall })
}
