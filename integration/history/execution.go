package history

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// never is later than everything.
const never = math.MaxInt64

// The sources of an execution, as package job names them.
const (
	normal   = "NORMAL_TRIGGER"
	misfire  = "MISFIRE"
	failover = "FAILOVER"
	manual   = "MANUAL"
	retry    = "RETRY"
	backfill = "BACKFILL"
)

// subject is one item of one job.
type subject struct {
	job  string
	item int
}

// execution is one run of an item, put together from what its process wrote about it.
type execution struct {
	subject
	process string
	tick    time.Time // in milliseconds, as the registry keeps it
	token   int64
	source  string
	request string // that it runs for; empty if none

	claim  *Event // the commit that began it; nil if its answer was not seen
	start  *Event // nil if its process ended before the handler was called
	cut    *Event
	end    *Event
	finish *Event // the commit of its process that removed its record, and was answered
	killed int64  // when SIGKILL was sent to its process, or never
}

// began is the earliest time at which it is known to run.
func (x *execution) began() int64 {
	if x.start != nil {
		return x.start.Mono
	}
	return x.claim.Mono
}

// claimed is the earliest time at which the registry may have its claim.
func (x *execution) claimed() int64 {
	if x.claim != nil {
		return x.claim.Call
	}
	return x.start.Mono
}

// instance is the identity that claimed it.
func (x *execution) instance() string {
	if x.start != nil {
		return x.start.Instance
	}
	return x.claim.Instance
}

// until is when its right to the item ended: its handler returned, or its context ended, or
// its process was killed.
func (x *execution) until() int64 {
	until := x.killed
	if x.start == nil {
		return min(until, x.claim.Mono)
	}
	if x.end != nil {
		until = min(until, x.end.Mono)
	}
	if x.cut != nil {
		until = min(until, x.cut.Mono)
	}
	return until
}

// returned is when its handler came back, or its process ended.
func (x *execution) returned() int64 {
	if x.start == nil {
		return x.until()
	}
	if x.end != nil {
		return min(x.killed, x.end.Mono)
	}
	return x.killed
}

// complete reports whether the handler returned by itself, and not because its context ended.
func (x *execution) complete() bool { return x.end != nil && x.end.Outcome != Stopped }

// settled reports whether the registry has confirmed that the run is over and need not be
// repeated.
func (x *execution) settled() bool {
	return x.finish != nil && !slices.Contains(x.finish.Waits, x.item)
}

// isGivenBack reports whether its claim was released before the handler was called: its tick is left to the next claim.
func (x *execution) isGivenBack() bool {
	return x.start == nil && x.settled() && !slices.ContainsFunc(x.finish.Told, func(t Told) bool { return t.Item == x.item })
}

// events are those of the execution.
func (x *execution) events() []*Event {
	var list []*Event
	for _, e := range []*Event{x.claim, x.start, x.cut, x.end, x.finish} {
		if e != nil {
			list = append(list, e)
		}
	}
	return list
}

// executions puts the executions of each item together, in the order of their tokens.
func executions(events []Event) map[subject][]*execution {
	c := collector{
		byClaim: map[claimKey]*execution{}, byTask: map[string]*execution{},
		latest: map[owner]*execution{}, bySubject: map[subject][]*execution{}, wanted: map[owner]string{},
	}
	kills := map[string]int64{}
	for i := range events {
		e := &events[i]
		switch e.Kind {
		case Kill:
			kills[e.Process] = e.Mono
		case Start:
			c.start(e)
		case Cut:
			if x := c.byTask[e.Task]; x != nil {
				x.cut = e
			}
		case End:
			if x := c.byTask[e.Task]; x != nil {
				x.end = e
			}
		case Commit:
			if e.Err == "" {
				c.commit(e)
			} else {
				c.unanswered(e)
			}
		}
	}
	for _, list := range c.bySubject {
		for _, x := range list {
			if killed, ok := kills[x.process]; ok {
				x.killed = killed
			}
		}
		slices.SortStableFunc(list, func(a, b *execution) int {
			return cmp.Or(cmp.Compare(a.token, b.token), cmp.Compare(a.began(), b.began()))
		})
	}
	return c.bySubject
}

// owner is one process at one item, claimKey one claim of it there.
type owner struct {
	process string
	subject
}

type claimKey struct {
	owner
	token int64
}

type collector struct {
	byClaim   map[claimKey]*execution
	byTask    map[string]*execution
	latest    map[owner]*execution
	bySubject map[subject][]*execution
	wanted    map[owner]string // the request for which a commit without an answer began an item
}

func (c *collector) add(o owner, token int64) *execution {
	x := &execution{subject: o.subject, process: o.process, token: token, killed: never}
	c.byClaim[claimKey{o, token}] = x
	c.latest[o] = x
	c.bySubject[o.subject] = append(c.bySubject[o.subject], x)
	return x
}

func (c *collector) start(e *Event) {
	o := owner{e.Process, subject{e.Job, e.Item}}
	x := c.byClaim[claimKey{o, e.Token}]
	if x == nil || x.start != nil { // a second start of one claim is an execution of its own
		x = c.add(o, e.Token)
		x.request = c.wanted[o]
	}
	x.start, x.source, x.tick = e, e.Source, e.Tick.Truncate(time.Millisecond)
	c.byTask[e.Task] = x
}

// commit notes the runs that a commit ended before those that it began: one commit may end a
// run of an item and begin a make-up of it. What a process has begun in an earlier session is not
// what it ends in this one: that may be a claim whose answer it has not seen. And if the commit tells how a run with
// another token ended, it is one that a leader has recovered.
func (c *collector) commit(e *Event) {
	for _, i := range e.Ends {
		x := c.latest[owner{e.Process, subject{e.Job, i}}]
		if x == nil || x.finish != nil || x.began() > e.Call || e.Instance != "" && x.instance() != e.Instance {
			continue
		}
		if !slices.ContainsFunc(e.Told, func(t Told) bool { return t.Item == i && t.Token != 0 && t.Token != x.token }) {
			x.finish = e
		}
	}
	for _, claim := range e.Claims {
		x := c.add(owner{e.Process, subject{e.Job, claim.Item}}, e.Token)
		x.claim, x.tick, x.request = e, claim.Tick.Truncate(time.Millisecond), claim.Request
	}
}

// unanswered notes what a commit wanted that may have happened.
func (c *collector) unanswered(e *Event) {
	for _, claim := range e.Claims {
		c.wanted[owner{e.Process, subject{e.Job, claim.Item}}] = claim.Request
	}
}

// asked reports whether a request asked for the execution, and no tick.
func (x *execution) asked() bool {
	return x.request != "" || x.source == manual || x.source == retry || x.source == backfill
}
