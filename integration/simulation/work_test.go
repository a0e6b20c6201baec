package simulation

import (
	"context"
	"errors"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
)

// work says how long an item takes for a tick. The same seed gives the same times. Many items
// of a tick take equally long, since items are equal shares of the work.
type work func(random uint64, sc job.ShardingContext) time.Duration

// quick items take milliseconds.
func quick(_ uint64, sc job.ShardingContext) time.Duration {
	return [...]time.Duration{5, 5, 5, 100}[sc.Item%4] * time.Millisecond
}

// minutes is work of 20 s to 3 min, the same for all items of a tick but for some
// stragglers.
func minutes(random uint64, sc job.ShardingContext) time.Duration {
	d := 20*time.Second + time.Duration(mix(uint64(sc.ScheduledTime.Unix()))%160)*time.Second
	if random%50 == 0 {
		d *= 2
	}
	return d
}

// longer is work of which every tenth item takes longer than the interval.
func longer(interval time.Duration) work {
	return func(random uint64, sc job.ShardingContext) time.Duration {
		if sc.Item%10 == 0 {
			return interval + interval*3/10
		}
		return minutes(random, sc)
	}
}

var errFailed = errors.New("failed, as some do")

// handler is the handler of a job in a process.
func (h *host) handler(j *jobModel) job.HandlerFunc {
	return func(ctx context.Context, sc job.ShardingContext) error {
		random := mix(h.group.sim.seed, j.number, uint64(sc.Item), uint64(sc.ScheduledTime.Unix()))
		run := j.history.begin(ctx, h, sc)
		if gate := h.gate.Load(); gate != nil {
			<-*gate
		}
		if err := elapse(ctx, j.work(random, sc)); err != nil {
			j.history.end(run, context.Cause(ctx))
			if random%20 == 1 && !h.group.sim.over.Load() {
				h.dawdled.Store(true)
				pass(time.Duration(random>>32%3000) * time.Millisecond)
			}
			return err
		}
		var err error
		if random%100 == 2 {
			err = errFailed
		}
		j.history.end(run, err)
		if random%2000 == 3 {
			panic("panicked, as some do")
		}
		return err
	}
}

// pass lets virtual time pass.
func pass(d time.Duration) { <-time.After(d) }

// elapse waits, and returns an error if the context ends before that. A caller that looks at
// the context next may ignore the error.
func elapse(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// mix makes one random number of several that are not (splitmix64).
func mix(numbers ...uint64) uint64 {
	var x uint64
	for _, n := range numbers {
		x = (x ^ n) + 0x9e3779b97f4a7c15
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		x ^= x >> 31
	}
	return x
}
