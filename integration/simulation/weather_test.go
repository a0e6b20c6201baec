package simulation

import (
	"math/rand/v2"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
)

// weather is what happens to the store, and so to everybody, in a storm.
func (s *simulation) weather(random *rand.Rand, until time.Time) {
	mean := float64(s.size.storm) / s.size.outages
	for {
		pause := time.Duration(random.ExpFloat64() * mean)
		d := 30*time.Second + time.Duration(random.Int64N(int64(270*time.Second)))
		kind := random.IntN(5)
		if kind == 0 {
			d = time.Second + time.Duration(random.Int64N(int64(4*time.Second)))
		}
		if time.Now().Add(pause + d).After(until) {
			return
		}
		pass(pause)
		s.outage.begin()
		if kind == 1 {
			s.noteAll("the store answers late for %v", d.Round(time.Second))
			s.counts.fault("store slow")
			slow := s.store.Inject(memory.Fault{Method: memory.Commit, Delay: 500 * time.Millisecond})
			pass(d)
			slow.Remove()
		} else if kind == 2 || kind == 3 {
			saved := s.store.Save()
			pass(d)
			s.noteAll("the store is put back by %v", d.Round(time.Second))
			s.counts.fault("store put back")
			s.putBack(saved)
		} else {
			s.noteAll("the store is away for %v", d.Round(time.Second))
			s.counts.fault("store away")
			s.store.Down()
			pass(d)
			s.store.Up()
		}
		s.outage.end()
		s.noteAll("the store is well")
	}
}

func (s *simulation) noteAll(format string, args ...any) {
	for _, g := range s.groups {
		g.note(format, args...)
	}
}
