package zk

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	zookeeper "github.com/go-zookeeper/zk"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Now implements [coord.Registry]: it writes the node, without a value, and returns the
// leader's time of that.
func (r *Registry) Now(ctx context.Context, path string) (time.Time, error) {
	if err := coord.ValidatePath(path); err != nil {
		return time.Time{}, fmt.Errorf("zk: now: %w", err)
	}
	stat, err := r.touch(ctx, path)
	if err != nil {
		return time.Time{}, fmt.Errorf("zk: now %s: %w", path, err)
	}
	return time.UnixMilli(stat.Mtime), nil
}

// touch writes a node without a value.
func (r *Registry) touch(ctx context.Context, path string) (zookeeper.Stat, error) {
	stat, err := r.commit(ctx, []coord.Op{coord.Put(path, nil)})
	if errors.Is(err, coord.ErrUnknownOutcome) {
		// Whether it was written does not matter, only that the time is not known.
		err = fmt.Errorf("%w (%w)", coord.ErrUnavailable, err)
	}
	return stat, err
}

// How often the clocks are compared while they agree, how often it is looked whether they
// still do, and what is waited after a comparison that failed. While they do not agree,
// they are compared at each look, and looks become as rare as one a minute: the store's
// clock may have been set, or the reading was wrong, because this process was held up.
const (
	compareInterval   = time.Hour
	clockLookInterval = 10 * time.Second
	minCompareBackoff = time.Second
	maxCompareBackoff = time.Minute
	// clockDoubt is how far the clocks may be from each other before they are compared again.
	clockDoubt = 2 * time.Second
)

// Clock implements [coord.Registry]. The first call begins what it tells of: who never
// asks writes nothing.
func (r *Registry) Clock() coord.Clock {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.clocked && r.ctx.Err() == nil {
		r.clocked = true
		r.running.Go(r.compareClocks)
	}
	return r.clock
}

// compareClocks keeps what is known of the store's clock, until the registry is closed.
func (r *Registry) compareClocks() {
	backoff, look := minCompareBackoff, r.clockLook
	for {
		s, err := r.current(unlimited(r.ctx))
		if err != nil {
			return // it is closed
		}
		if r.compareClock() != nil {
			r.rest(s, backoff)
			backoff = min(2*backoff, maxCompareBackoff)
			continue
		}
		backoff = minCompareBackoff
		if !r.apart() {
			look = r.clockLook
		}
		r.agree(s, look)
		look = min(2*look, maxCompareBackoff)
	}
}

// agree waits until it is time to compare the clocks again: an hour, or less if a look
// shows that they disagree, or until there is another session than s.
func (r *Registry) agree(s *session, look time.Duration) {
	again := time.Now().Add(about(compareInterval))
	for r.rest(s, look) && time.Now().Before(again) {
		if r.apart() {
			return
		}
	}
}

// apart reports whether the clocks are too far from each other to leave it at that.
func (r *Registry) apart() bool { return r.Clock().Ahead(time.Now()).Abs() > clockDoubt }

// rest waits for about a time. It reports false if there is another session than s
// meanwhile, or the registry is closed.
func (r *Registry) rest(s *session, pause time.Duration) bool {
	timer := time.NewTimer(about(pause))
	defer timer.Stop()
	for {
		r.mu.Lock()
		now, changed := r.session, r.changed
		r.mu.Unlock()
		if now != nil && now != s {
			return false
		}
		select {
		case <-timer.C:
			return true
		case <-changed:
		case <-r.ctx.Done():
			return false
		}
	}
}

// about keeps many processes from asking at the same moment.
func about(d time.Duration) time.Duration { return d*3/4 + rand.N(d/2) }

// compareClock compares the clocks. The leader wrote its time, in whole milliseconds, at
// some moment between the request and the answer.
func (r *Registry) compareClock() error {
	begun := time.Now()
	stat, err := r.touch(r.ctx, coord.ClockPath)
	half := time.Since(begun) / 2
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.clock = r.clock.Failed(fmt.Errorf("zk: clock: %w", err))
		return err
	}
	const tick = time.Millisecond
	r.clock = coord.NewClock(begun.Add(half), time.UnixMilli(stat.Mtime).Add(tick/2), half+tick/2)
	return nil
}
