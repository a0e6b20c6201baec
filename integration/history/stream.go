package history

import "fmt"

// stream checks the cursor of an item's stream. Rows are processed in the order of their
// numbers. A fetch at a cursor says that it was moved there, so
//
//   - all rows up to there have been processed: none is lost;
//   - the execution that has moved it there had the item then: none with a larger token had
//     started before the batch ended;
//   - neither this execution nor one with a larger token fetches before it again: no batch whose
//     cursor was moved is processed twice. Where the store was put back, or the job was removed,
//     cursors are lost, and it begins anew.
//
// A batch whose cursor was not moved may be processed again, by whoever comes next.
func (c *checker) stream(s subject) {
	began := map[string]int64{} // executions, by task
	for _, x := range c.runs[s] {
		if x.start != nil {
			began[x.start.Task] = x.start.Mono
		}
	}
	processed := map[int64]bool{0: true} // where batches have ended
	forgotten := int64(0)                // when cursors were lost last
	fetched, done := map[string]*Event{}, map[string]*Event{}
	for i := range c.timeline.events {
		e := &c.timeline.events[i]
		switch {
		case e.Kind == Restore, e.Job == s.job && (e.Kind == Tamper || e.Kind == Remove):
			forgotten = e.Mono
			clear(fetched)
			clear(done)
		case e.Job != s.job || e.Item != s.item:
		case e.Kind == Batch:
			processed[e.Row] = true
			done[e.Task] = e
		case e.Kind == Fetch:
			if !processed[e.Row] {
				c.violate(13, fmt.Sprintf("%s/%d: the cursor is behind rows that nobody has processed", s.job, s.item), e)
			}
			if began[e.Task] <= forgotten {
				continue // it may have read its cursor before
			}
			if before := done[e.Task]; before != nil && before.Row > e.Row {
				c.violate(13, fmt.Sprintf("%s/%d: an execution goes back behind its own batch", s.job, s.item), before, e)
			} else if before != nil {
				if next := c.nextOf(s, e.Token, forgotten); next != nil && next.Mono < before.Mono {
					c.violate(13, fmt.Sprintf("%s/%d: an execution has moved the cursor after it had lost the item", s.job, s.item), next, before, e)
				}
			}
			for _, before := range fetched {
				if before.Token < e.Token && before.Row > e.Row {
					c.violate(13, fmt.Sprintf("%s/%d: the cursor has gone back", s.job, s.item), before, e)
				}
			}
			fetched[e.Task] = e
		}
	}
}

// nextOf returns the first start of an execution of an item with a larger token, among those
// that began after a moment; nil if there is none.
func (c *checker) nextOf(s subject, token, after int64) *Event {
	var first *Event
	for _, x := range c.runs[s] {
		if x.token > token && x.start != nil && x.start.Mono > after && (first == nil || x.start.Mono < first.Mono) {
			first = x.start
		}
	}
	return first
}
