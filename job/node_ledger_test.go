package job

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
)

// However items come and go: the places that are taken are those of the accounts; there are
// more than the limit only for what is pinned or runs; none is free while a job waits for one;
// and what an instance says is never less than what had room there before.
func TestLedger(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &ledger{limit: rapid.IntRange(1, 8).Draw(t, "limit"), accounts: map[*account]bool{}}
		now := clocks.Now()
		type client struct {
			*account
			d     demand
			woken bool
		}
		var jobs []*client
		open := func() *client {
			j := &client{d: demand{total: rapid.IntRange(1, 6).Draw(t, "total"), joins: true}}
			j.account = l.account(func() { j.woken = true })
			jobs = append(jobs, j)
			return j
		}
		open()
		some := func(t *rapid.T) *client {
			for _, j := range jobs {
				if j.woken {
					return j // the controller has its turn
				}
			}
			return rapid.SampledFrom(jobs).Draw(t, "job")
		}
		settle := func(t *rapid.T, j *client) {
			held, isOver := j.held, l.held > l.limit || j.d.pinned+j.d.guests > j.held // then items lose their places
			j.woken = false
			again := j.settle(j.d, now)
			switch {
			case j.held < min(held, j.d.items) && !isOver:
				t.Fatalf("places of items were taken away: %d, then %d for %+v", held, j.held, j.d)
			case j.capped && !j.d.joins && !isOver && j.room < min(j.d.items, held)-j.d.guests:
				t.Fatalf("it says %d, and had %d for %+v", j.room, held, j.d)
			case j.held < j.d.items && !j.capped:
				t.Fatalf("it says nothing, with %d for %+v", j.held, j.d)
			case j.held > j.d.items && again <= 0:
				t.Fatal("places are kept for ever")
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				held, must, items, waits := 0, 0, 0, 0
				for _, j := range jobs {
					held += j.held
					items += j.items
					must += max(j.d.pinned+j.d.guests, 0)
					if j.waits {
						waits++
					}
				}
				switch {
				case held != l.held || items != l.items || waits != len(l.queue):
					t.Fatalf("%d places, %d items, %d wait; it says %d, %d and %d", held, items, waits, l.held, l.items, len(l.queue))
				case held > l.limit+must: // until all have settled
					t.Fatalf("%d of %d places are taken, and %d have to be", held, l.limit, must)
				case waits > 0 && held < l.limit:
					t.Fatalf("%d wait, and %d of %d places are taken", waits, held, l.limit)
				}
			},
			"open": func(t *rapid.T) {
				if len(jobs) < 4 {
					open()
				}
			},
			"leave": func(t *rapid.T) {
				if len(jobs) > 1 {
					jobs[len(jobs)-1].leave()
					jobs = jobs[:len(jobs)-1]
				}
			},
			"items come and go": func(t *rapid.T) {
				j := some(t)
				own := rapid.IntRange(0, j.d.total).Draw(t, "own")
				j.d.joins = false
				j.d.pinned = rapid.IntRange(0, min(1, own)).Draw(t, "pinned")
				j.d.guests = min(j.d.guests, rapid.IntRange(0, 1).Draw(t, "guests")) // they come by admit
				j.d.items = own + j.d.guests
				j.d.missing = rapid.IntRange(0, j.d.total-own).Draw(t, "missing")
				settle(t, j)
			},
			"settle": func(t *rapid.T) { settle(t, some(t)) },
			"admit": func(t *rapid.T) {
				j := some(t)
				if n := j.admit(rapid.IntRange(0, 3).Draw(t, "n")); n > 0 && !j.d.joins {
					j.d.guests++
					j.d.items++
				}
			},
			"time goes by": func(t *rapid.T) {
				now = now.Add(rapid.SampledFrom([]time.Duration{time.Millisecond, roomTime, uncapAfter, maxRoomPause}).Draw(t, "time"))
			},
		})
	})
}

// A job for which places were kept in vain lets others have them, longer each time.
func TestLedgerKeepsNoPlaceInVain(t *testing.T) {
	l := &ledger{limit: 1, accounts: map[*account]bool{}}
	now := clocks.Now()
	woken := 0
	full := l.account(func() {})
	full.settle(demand{items: 1, total: 1}, now)
	vain, other := l.account(func() { woken++ }), l.account(func() { woken++ })
	wants := demand{missing: 1, total: 2, joins: true}
	for _, a := range []*account{vain, other} {
		if a.settle(wants, now); !a.capped || a.room != 0 {
			t.Fatalf("it says %v, %d", a.capped, a.room)
		}
	}
	wants.joins = false
	full.settle(demand{total: 1}, now)
	vain.settle(wants, now)
	if vain.room != 1 || other.held != 0 || woken != 1 {
		t.Fatalf("room for %d; the other has %d; %d woken", vain.room, other.held, woken)
	}
	now = now.Add(roomTime)
	vain.settle(wants, now)
	other.settle(wants, now)
	if vain.held != 0 || other.held != 1 || other.room != 1 {
		t.Fatalf("%d and %d are held", vain.held, other.held)
	}
}
