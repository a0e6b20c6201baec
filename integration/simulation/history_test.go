package simulation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job"
)

// history is what the handlers of one job did, item by item. It checks each execution
// as it begins and as it ends.
type history struct {
	job string
	sim *simulation
	// tampered is when somebody wrote to the tree of the job.
	tampered *trouble
	steering *steering
	mu       sync.Mutex
	items    []itemHistory
	ticks    map[int64]struct{} // that something began for
}

type itemHistory struct {
	executions []execution // in the order of their beginnings
	open       []opened    // those of them that have not returned
	newest     int64       // the latest tick that has begun
	token      int64       // the largest one of an execution whose context was alive
	since      int         // index of the first execution since the last cut
}

// execution is one call of a handler.
type execution struct {
	token      int64
	tick       int64 // milliseconds since 1970
	begin, end time.Time
	host       *host
	instance   string
	source     job.Source
	outcome    outcome
	cause      error
}

type opened struct {
	ctx context.Context
	at  int // in executions
}

type outcome uint8

const (
	running  outcome = iota
	finished         // the handler returned nil
	failed           // it returned an error of its own
	cut              // its context ended before it was through
	unborn           // its context had ended before it began, so it did nothing
)

func (o outcome) String() string {
	return [...]string{"runs", "finished", "failed", "cut short", "cut short before it began"}[o]
}

// reference names an execution that has begun.
type reference struct{ item, at int }

func (h *history) item(i int) *itemHistory {
	for len(h.items) <= i {
		h.items = append(h.items, itemHistory{})
	}
	return &h.items[i]
}

// begin notes the begin of an execution and checks it against those before it.
func (h *history) begin(ctx context.Context, on *host, sc job.ShardingContext) reference {
	e := execution{
		token: sc.Token, tick: sc.ScheduledTime.UnixMilli(), begin: time.Now(),
		host: on, instance: sc.InstanceID, source: sc.Source,
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	it := h.item(sc.Item)
	ref := reference{sc.Item, len(it.executions)}
	if ctx.Err() != nil {
		e.outcome, e.end, e.cause = unborn, e.begin, context.Cause(ctx)
		it.executions = append(it.executions, e)
		return ref
	}
	it.executions = append(it.executions, e)
	h.ticks[e.tick] = struct{}{}
	h.sim.counts.begun(e.source)

	if e.source == job.SourceNormal || e.source == job.SourceMisfire {
		if e.tick <= it.newest {
			h.checkTick(it, ref, e)
		}
		it.newest = max(it.newest, e.tick)
		h.mayBegin(ref, e)
	}
	if e.token <= it.token && !it.excused(e) {
		h.violated(ref, "token %d began after %d", e.token, it.token)
	}
	it.token = max(it.token, e.token)
	for _, o := range it.open {
		if before := it.executions[o.at]; o.at >= it.since && o.ctx.Err() == nil && !before.host.expiredBy(before.token) {
			h.violated(ref, "it began while token %d was at work", before.token)
		}
	}
	if e.source == job.SourceFailover {
		h.checkFailover(it, ref, e)
	}
	it.open = append(it.open, opened{ctx, ref.at})
	return ref
}

// excused reports whether an execution may begin after one with a larger token. It may if its
// session was removed at the store and its process does not know that yet.
func (it *itemHistory) excused(e execution) bool { return e.host.expiredBy(e.token) }

// checkTick looks for another start of the same tick.
func (h *history) checkTick(it *itemHistory, ref reference, e execution) {
	for _, before := range it.executions[it.since:ref.at] {
		if before.tick == e.tick && (before.source == job.SourceNormal || before.source == job.SourceMisfire) && before.outcome != unborn {
			h.violated(ref, "its tick was begun with token %d, and again with token %d", before.token, e.token)
			return
		}
	}
}

// checkFailover looks for a failover of a run that had finished on a process to which nothing
// had happened.
func (h *history) checkFailover(it *itemHistory, ref reference, e execution) {
	for at := ref.at - 1; at >= it.since; at-- {
		before := it.executions[at]
		if before.tick != e.tick || before.token > e.token {
			continue
		}
		if k, isKilled := h.steering.killOf(itemToken{ref.item, before.token}); isKilled && k.sure && !k.again {
			h.violated(ref, "it was killed with token %d, and is run again", before.token)
		}
		if (before.outcome == finished || before.outcome == failed) && !before.host.troubledSince(before.end) {
			h.violated(ref, "it was finished with token %d, in peace, and is run again", before.token)
		}
		return
	}
}

// cut begins a new epoch: the store was put back, or somebody has tampered with the tree,
// so ticks may come again, tokens may go down, and what was cut short may be forgotten.
func (h *history) cut() {
	h.steering.forget()
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.items {
		it := &h.items[i]
		it.since, it.newest, it.token = len(it.executions), 0, 0
	}
}

// end notes the end of an execution, when its handler is through or its context has
// ended; err is the cause then.
func (h *history) end(ref reference, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	it := &h.items[ref.item]
	e := &it.executions[ref.at]
	if e.outcome == unborn {
		return
	}
	for i, o := range it.open {
		if o.at == ref.at {
			it.open = append(it.open[:i], it.open[i+1:]...)
			break
		}
	}
	e.end, e.cause = time.Now(), err
	switch {
	case err == nil:
		e.outcome = finished
	case errors.Is(err, errFailed), errors.Is(err, job.ErrTimeout):
		e.outcome = failed
	default:
		e.outcome = cut
		h.sim.counts.cut.Add(1)
		h.checkCause(ref, *e)
	}
}

// checkCause checks that a context ended for a reason that is allowed.
func (h *history) checkCause(ref reference, e execution) {
	switch {
	case h.tampered.since(e.end.Add(-5 * time.Minute)):
	case errors.Is(e.cause, job.ErrShutdown), errors.Is(e.cause, coord.ErrClosed):
		if e.host.ctx.Err() == nil && !e.host.stopped() && !e.host.blind.Load() {
			h.violated(ref, "its context ended with %q on a process that goes on", e.cause)
		}
	case errors.Is(e.cause, coord.ErrSessionLost):
		if !e.host.troubledSince(e.end.Add(-2 * e.host.group.shape.session)) {
			h.violated(ref, "its session was lost on a process that nothing happened to")
		}
	case errors.Is(e.cause, job.ErrKilled):
		if _, isKilled := h.steering.killOf(itemToken{ref.item, e.token}); !isKilled {
			h.violated(ref, "it was killed, and nobody wanted that")
		}
		h.sim.counts.killed.Add(1)
	case errors.Is(e.cause, job.ErrItemLost):
		if !e.host.expiredBy(e.token) {
			h.violated(ref, "it was taken away from a process that lives")
		}
	default:
		h.violated(ref, "its context ended with %q", e.cause)
	}
}

// owed returns the last execution of an item that was cut short and not run again, or nil. If
// several were cut short, one more run is enough. One that was killed for good is not run again.
func (h *history) owed(i int) *execution {
	var owed *execution
	it := h.item(i)
	for at := it.since; at < len(it.executions); at++ {
		e := &it.executions[at]
		if k, isKilled := h.steering.killOf(itemToken{i, e.token}); isKilled && !k.again {
			continue
		}
		if (e.outcome == cut || e.outcome == unborn) && (owed == nil || e.token > owed.token) {
			owed = e
		}
	}
	if owed == nil {
		return nil
	}
	for at := range it.executions {
		if e := &it.executions[at]; e.source == job.SourceFailover && e.token > owed.token && e.outcome != unborn {
			return nil
		}
	}
	return owed
}

// executing returns the execution that is at work.
func (it *itemHistory) executing() *execution {
	for _, o := range it.open {
		if o.ctx.Err() == nil {
			return &it.executions[o.at]
		}
	}
	return nil
}

// busy reports whether all of the items are being executed.
func (h *history) busy(items []int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !slices.ContainsFunc(items, func(i int) bool { return h.item(i).executing() == nil })
}

// began reports whether a run for the tick has begun.
func (it *itemHistory) began(tick time.Time) bool {
	for at := len(it.executions) - 1; at >= 0; at-- {
		if e := &it.executions[at]; e.tick == tick.UnixMilli() && !isAsked(e.source) {
			return true
		}
	}
	return false
}

// violated reports an execution that must not be. The lock is held.
func (h *history) violated(ref reference, format string, args ...any) {
	it := &h.items[ref.item]
	h.sim.violated(h.job, ref.item, it.slice(ref.at), fmt.Sprintf(format, args...))
}

// slice is the piece of an item's history that led to the execution.
func (it *itemHistory) slice(at int) []execution {
	const before, after = 6, 2
	return it.executions[max(at-before, 0):min(at+after, len(it.executions))]
}

func (e execution) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s tick %s token %d on %s (%s): %s", clock(e.begin), e.source,
		clock(time.UnixMilli(e.tick)), e.token, e.host.name, e.instance, e.outcome)
	if !e.end.IsZero() {
		fmt.Fprintf(&b, " at %s", clock(e.end))
	}
	if e.cause != nil {
		fmt.Fprintf(&b, ", %v", e.cause)
	}
	return b.String()
}

// clock shows a time of the virtual day.
func clock(t time.Time) string { return t.UTC().Format("02 15:04:05.000") }
