package zk

import (
	"context"
	"errors"
	"fmt"
	"time"

	zookeeper "github.com/go-zookeeper/zk"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Clock implements [coord.Registry]. The first call starts the comparisons, which write.
func (r *Registry) Clock() coord.Clock {
	r.clocked.Do(func() { r.start(func() { r.clock.Run(r.ctx) }) })
	return r.clock.Clock()
}

// compareClock compares the clocks. The leader wrote its time, in whole milliseconds, at
// some moment between the request and the answer.
func (r *Registry) compareClock(ctx context.Context) (coord.Clock, error) {
	begun := time.Now()
	stat, err := r.writeClock(ctx)
	half := time.Since(begun) / 2
	if err != nil {
		return coord.Clock{}, fmt.Errorf("zk: clock: %w", err)
	}
	const tick = time.Millisecond
	return coord.NewClock(begun.Add(half), time.UnixMilli(stat.Mtime).Add(tick/2), half+tick/2), nil
}

// writeClock writes the clock's node, without a value.
func (r *Registry) writeClock(ctx context.Context) (zookeeper.Stat, error) {
	stat, err := r.commit(ctx, []coord.Op{coord.Put(coord.ClockPath, nil)})
	if errors.Is(err, coord.ErrUnknownOutcome) {
		// Whether it was written does not matter, only that the time is not known.
		err = fmt.Errorf("%w (%w)", coord.ErrUnavailable, err)
	}
	return stat, err
}
