package pool

import (
	"testing"

	"pgregory.net/rapid"
)

// However jobs reserve, take and give back threads, there are never more taken than there
// are; none is free while a job waits; and the job that has waited longest gets the next one.
func TestSharedThreads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := &Threads{limit: rapid.IntRange(1, 4).Draw(t, "limit")}
		type client struct {
			*Reservation
			running, woken int
		}
		var jobs []*client
		for range rapid.IntRange(1, 4).Draw(t, "jobs") {
			j := &client{}
			j.Reservation = pool.Reservation(func() { j.woken++ })
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
				if got := j.Reserve(n); got > n || got > j.held && n > 0 || got < n && !j.Waits() {
					t.Fatalf("%d of %d, it holds %d and waits: %v", got, n, j.held, j.Waits())
				}
			},
			"take": func(t *rapid.T) {
				j := rapid.SampledFrom(jobs).Draw(t, "job")
				if j.Take() {
					j.running++
				} else if !j.Waits() {
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
					if len(pool.queue) > 0 && pool.queue[0] == other.Reservation {
						first, before = other, other.woken
					}
				}
				j.running--
				j.Reservation.Done()
				if first != nil && (first.woken != before+1 || first.held == 0) {
					t.Fatal("the first in the queue has got nothing")
				}
			},
			"keep":  func(t *rapid.T) { rapid.SampledFrom(jobs).Draw(t, "job").Keep(rapid.IntRange(0, 2).Draw(t, "n")) },
			"leave": func(t *rapid.T) { rapid.SampledFrom(jobs).Draw(t, "job").Cancel() },
		})
	})
}

func TestNoSharedThreads(t *testing.T) {
	var none *Threads
	s := none.Reservation(nil)
	if s.Reserve(1000) != 1000 || !s.Take() || s.Waits() {
		t.Error("there is a limit")
	}
	s.Done()
	s.Keep(0)
	s.Cancel()
}
