package job

import (
	"testing"

	"pgregory.net/rapid"
)

// However jobs reserve, take and give back threads, there are never more taken than there
// are; none is free while a job waits; and the job that has waited longest gets the next one.
func TestSharedThreads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := &threads{limit: rapid.IntRange(1, 4).Draw(t, "limit")}
		type client struct {
			*seat
			running, woken int
		}
		var jobs []*client
		for range rapid.IntRange(1, 4).Draw(t, "jobs") {
			j := &client{}
			j.seat = pool.seat(func() { j.woken++ })
			jobs = append(jobs, j)
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				taken := 0
				for _, j := range jobs {
					taken += j.held + j.running
				}
				if taken != pool.taken || taken > pool.limit {
					t.Fatalf("%d of %d are taken, and it says %d", taken, pool.limit, pool.taken)
				}
				if len(pool.queue) > 0 && taken < pool.limit {
					t.Fatalf("%d wait, and %d of %d are taken", len(pool.queue), taken, pool.limit)
				}
			},
			"reserve": func(t *rapid.T) {
				j := rapid.SampledFrom(jobs).Draw(t, "job")
				n := rapid.IntRange(-1, 5).Draw(t, "n")
				if got := j.reserve(n); got > n || got > j.held && n > 0 || got < n && !j.isShort() {
					t.Fatalf("%d of %d, it holds %d and waits: %v", got, n, j.held, j.isShort())
				}
			},
			"take": func(t *rapid.T) {
				j := rapid.SampledFrom(jobs).Draw(t, "job")
				if j.take() {
					j.running++
				} else if !j.isShort() {
					t.Fatal("it has none, and does not wait")
				}
			},
			"end": func(t *rapid.T) {
				j := rapid.SampledFrom(jobs).Draw(t, "job")
				if j.running == 0 {
					return
				}
				var first *client
				before := 0
				for _, other := range jobs {
					if len(pool.queue) > 0 && pool.queue[0] == other.seat {
						first, before = other, other.woken
					}
				}
				j.running--
				j.seat.end()
				if first != nil && (first.woken != before+1 || first.held == 0) {
					t.Fatal("the first in the queue has got nothing")
				}
			},
			"keep":  func(t *rapid.T) { rapid.SampledFrom(jobs).Draw(t, "job").keep(rapid.IntRange(0, 2).Draw(t, "n")) },
			"leave": func(t *rapid.T) { rapid.SampledFrom(jobs).Draw(t, "job").leave() },
		})
	})
}

func TestNoSharedThreads(t *testing.T) {
	var none *threads
	s := none.seat(nil)
	if s.reserve(1000) != 1000 || !s.take() || s.isShort() {
		t.Error("there is a limit")
	}
	s.end()
	s.keep(0)
	s.leave()
}
