package trace

import (
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/jobtype"
)

const (
	// eventSize is about what an event costs without its texts, in bytes; lineSize a line.
	eventSize = 528
	lineSize  = 160
	// chunkBytes bounds a batch, beside Options.Batch.
	chunkBytes = 1 << 20
	// minChunks is how many chunks a full queue has at least: one of them is dropped at a time.
	minChunks = 8
)

// queue holds what waits for the sink, in chunks, each of which becomes a batch. If it holds
// too much, it drops the oldest chunks.
type queue struct {
	// Bounds of a chunk, and of the queue. Things are events and lines.
	chunkThings, chunkBytes int
	maxThings, maxBytes     int

	chunks  []*chunk // the oldest first; what comes is added to the last one
	looked  int      // so many of them packable has returned, or left as they are
	held    Count    // by them and by the chunk in hand
	bytes   int      // the same
	dropped Count    // because there was too much
	// What of dropped take has not told yet, and when the first of it was dropped.
	untold   Count
	untoldAt time.Time
}

func newQueue(o Options) queue {
	return queue{
		chunkThings: max(1, min(o.Batch, o.MaxEvents/minChunks)), chunkBytes: min(chunkBytes, o.MaxBytes/minChunks),
		maxThings: o.MaxEvents, maxBytes: o.MaxBytes,
	}
}

// chunk is a part of the queue.
type chunk struct {
	Batch
	has     Count
	bytes   int
	begun   time.Time // when the first thing came
	full    bool
	packed  []byte // instead of Batch, if it is not nil
	dropped bool
	// What was dropped before this chunk, and since when.
	lost   Count
	lostAt time.Time
}

// missed is the event that tells of what was dropped before a chunk.
func (c *chunk) missed() Event {
	return Event{
		Kind: jobtype.EventMissed, Time: c.lostAt, Ticks: c.lost.Events,
		Error: fmt.Sprintf("%d events and %d lines were dropped, because the recorder's queue was full", c.lost.Events, c.lost.Lines),
	}
}

// open returns the chunk to which something is to be added.
func (q *queue) open(now time.Time) *chunk {
	if n := len(q.chunks); n > 0 && !q.chunks[n-1].full {
		return q.chunks[n-1]
	}
	c := &chunk{begun: now}
	q.chunks = append(q.chunks, c)
	return c
}

// added counts what was added to a chunk. It reports whether the owner of the queue has something to
// do: the chunk was begun or is full, or something was dropped.
func (q *queue) added(c *chunk, n Count, bytes int, now time.Time) bool {
	c.has, q.held = c.has.plus(n), q.held.plus(n)
	c.bytes, q.bytes = c.bytes+bytes, q.bytes+bytes
	c.full = c.has.all() >= q.chunkThings || c.bytes >= q.chunkBytes
	return q.shrink(now) || c.has == n || c.full
}

// shrink drops the oldest chunks while there is too much. The one in hand stays.
func (q *queue) shrink(now time.Time) bool {
	isTooMuch := func() bool { return q.bytes > q.maxBytes || q.held.all() > q.maxThings }
	if !isTooMuch() {
		return false
	}
	if q.untold == (Count{}) {
		q.untoldAt = now
	}
	for len(q.chunks) > 0 && isTooMuch() {
		c := q.chunks[0]
		q.pop()
		c.dropped = true
		q.dropped, q.untold = q.dropped.plus(c.has), q.untold.plus(c.has)
		q.release(c.has, c.bytes)
	}
	return true
}

func (q *queue) pop() {
	q.chunks[0] = nil // the slice would keep it
	q.chunks = q.chunks[1:]
	q.looked = max(q.looked-1, 0)
}

// release forgets what is not held any more.
func (q *queue) release(n Count, bytes int) {
	q.held, q.bytes = q.held.minus(n), q.bytes-bytes
}

// take returns the oldest chunk once it is full, or interval after it was begun; before that nil,
// and when that will be, the zero time if nothing is there. What it returns still counts as held,
// until release.
func (q *queue) take(now time.Time, interval time.Duration) (*chunk, time.Time) {
	if len(q.chunks) == 0 {
		return nil, time.Time{}
	}
	c := q.chunks[0]
	if due := c.begun.Add(interval); !c.full && now.Before(due) {
		return nil, due
	}
	q.pop()
	c.lost, c.lostAt, q.untold = q.untold, q.untoldAt, Count{}
	if c.lost != (Count{}) {
		c.has.Events, q.held.Events = c.has.Events+1, q.held.Events+1 // the event that tells of it
	}
	return c, now
}

// isHalfEmpty reports whether the queue holds less than half of what it may.
func (q *queue) isHalfEmpty() bool { return q.bytes < q.maxBytes/2 && q.held.all() < q.maxThings/2 }

// clear drops all chunks, and returns what they had.
func (q *queue) clear() Count {
	var n Count
	for ; len(q.chunks) > 0; q.pop() {
		n = n.plus(q.chunks[0].has)
		q.release(q.chunks[0].has, q.chunks[0].bytes)
	}
	return n
}

// openChunks is how many chunks are left as they are. A sink that is only slow now and then
// does not make the queue longer.
const openChunks = 8

// packable returns the next full chunk that waits for long; nil if there is none.
func (q *queue) packable() *chunk {
	q.looked = max(q.looked, openChunks)
	if q.looked >= len(q.chunks) || !q.chunks[q.looked].full {
		return nil
	}
	q.looked++
	return q.chunks[q.looked-1]
}

// replace puts what pack has returned in the place of what a chunk has, if that is less.
func (q *queue) replace(c *chunk, packed []byte) {
	if c.dropped || packed == nil || len(packed) >= c.bytes {
		return
	}
	q.bytes += len(packed) - c.bytes
	c.Batch, c.packed, c.bytes = Batch{}, packed, len(packed)
}

// size is about how many bytes an event holds.
func (e *Event) size() int {
	return eventSize + len(e.Error) + len(e.Output) + 8*len(e.Items) + len(e.From) + len(e.What) + len(e.By) + len(e.Why) + len(e.Detail) + len(e.Before) + len(e.After)
}

func (l *Line) size() int { return lineSize + len(l.Text) }
