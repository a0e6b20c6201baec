package jobtype

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// OnceListener is told of each tick of a job once in the cluster, on one of its instances:
// before the handler of any of its members begins, and when all of them have ended.
//
// The members of a tick are fixed when the first of its items is about to be claimed: all
// items that are enabled, have an owner that is no JVM member, do not run, and are due for
// the tick, be it on time or to make up for ticks that they have missed. If clocks differ, that
// is when the tick comes by the earliest one. Each member begins by the clock of its owner.
//
//   - An item that still runs then is no member. If it makes up for the tick later, that run
//     belongs to no tick.
//   - A run by failover belongs to the tick of the run that was cut short.
//   - Requests (triggers, retries, backfills) belong to no tick: Wait tells how they end.
//   - A member that nobody runs for the tick, because it was disabled or removed, the job was
//     paused, or a later tick came first, ends as [OutcomeSkipped]. If it has not begun that
//     later tick either, this is known 15 s later, when the tick has come by all clocks.
//   - If it is enabled again, or the pause ends, and it then runs for the tick after all, that
//     run belongs to no tick.
//   - A member that is cut short, and not run again, ends as [OutcomeCut].
//
// So a tick for which no item is due has none of the calls, and a one-off job has no ticks. WithEarlyClaims does nothing in a
// job with such listeners, because members are fixed when a tick comes.
//
// An error, a panic or a time-out goes to the error handlers of the instance that has called,
// as a *[ListenerError] with Item -1, and holds nothing up. If a job has several such
// listeners, they are called one after the other, Completed in the reverse order.
//
// If the caller ends in the middle of a call (its session is lost, or the context of its
// Shutdown ends first), another instance calls once more, and says so by Tick.Again. Each
// call happens exactly once otherwise, also if all instances end and come up again.
type OnceListener interface {
	// Started is called when the members of a tick are fixed. They are claimed meanwhile, and
	// their handlers begin when it has returned, or its time is over. If it takes more than a
	// few seconds, a jobtype.FaultStarvation says that items wait for it.
	Started(ctx context.Context, t Tick) error
	// Completed is called when all members have ended, or the time of the tick is over, but
	// not before Started has returned or its time is over.
	Completed(ctx context.Context, r TickResult) error
}

// Tick is a tick of a job, as a [OnceListener] is told of it.
type Tick struct {
	JobName string
	// InstanceID is the instance that calls.
	InstanceID string
	// ScheduledTime is the tick, in the job's time zone.
	ScheduledTime time.Time
	// Items are the members, ascending.
	Items []int
	// Again is set if another instance may have made this call already, and has ended since.
	Again bool
}

// TickResult says how a tick has ended.
type TickResult struct {
	Tick
	// Outcomes say how the members have ended. Those that have not are left out.
	Outcomes map[int]Outcome
	// Err is a *MissingError if the time of the tick is over and members have not ended; nil
	// otherwise. They may still run, and nobody is told how they end.
	Err error
}

// WholeTick is the Item of a ShardingContext that is about a whole tick.
const WholeTick = -1

// ErrTooManyTicks: listeners are being told of so many ticks (50) that they are not told of
// another one. Its items run all the same.
var ErrTooManyTicks = errors.New("job: once-listeners are told of too many ticks at a time")

// MissingError says which members of a tick have not ended in time.
type MissingError struct {
	// Instances says which instance has, or had, each item; "" if none.
	Instances map[int]string
	// After is how long the tick has taken.
	After time.Duration
}

// Error names up to ten of the items, with their instances.
func (e *MissingError) Error() string {
	const most = 10
	items := slices.Sorted(maps.Keys(e.Instances))
	text := fmt.Sprintf("job: %d items have not ended %v after the start of their tick:", len(items), e.After)
	for _, i := range items[:min(len(items), most)] {
		if id := e.Instances[i]; id != "" {
			text += fmt.Sprintf(" %d on %s,", i, brief.Text(id))
		} else {
			text += fmt.Sprintf(" %d nowhere,", i)
		}
	}
	if len(items) > most {
		return text + fmt.Sprintf(" and %d more", len(items)-most)
	}
	return text[:len(text)-1]
}

// OnceTimes bound how long a tick waits for a [OnceListener], and the other way round.
type OnceTimes struct {
	// Call is how long a call of Started or Completed may take, before its context ends.
	// Members wait for Started as long, at most. Default 1 minute; at most 24 h.
	Call time.Duration
	// Tick is how long after its start Completed is called, even if members have not ended. Of
	// several listeners the shortest time counts. Default 1 h; at most 24 h.
	Tick time.Duration
}

// OnceListenerFuncs makes a OnceListener of functions. Those that are nil are not called.
type OnceListenerFuncs struct {
	OnStarted   func(ctx context.Context, t Tick) error
	OnCompleted func(ctx context.Context, r TickResult) error
}

// Started calls OnStarted.
func (f OnceListenerFuncs) Started(ctx context.Context, t Tick) error {
	if f.OnStarted == nil {
		return nil
	}
	return f.OnStarted(ctx, t)
}

// Completed calls OnCompleted.
func (f OnceListenerFuncs) Completed(ctx context.Context, r TickResult) error {
	if f.OnCompleted == nil {
		return nil
	}
	return f.OnCompleted(ctx, r)
}
