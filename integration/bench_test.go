package integration_test

import (
	"slices"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/integration/cluster"
	"github.com/elasticjob-go/elasticjob/integration/history"
)

func eachStore(b *testing.B, bench func(*testing.B, cluster.Store)) {
	for _, kind := range []string{cluster.Etcd, cluster.ZooKeeper} {
		b.Run(kind, func(b *testing.B) { bench(b, startStore(b, kind)) })
	}
}

// percentile returns one of a list in milliseconds.
func percentile(list []time.Duration, percent int) float64 {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return float64(list[min(len(list)-1, len(list)*percent/100)].Microseconds()) / 1000
}

// It measures two times: from SIGKILL until the store drops the session, which is about
// the session time-out, and from then until another worker starts the items again. Each
// iteration kills one worker with several items. Run a few for a percentile:
//
//	go test ./integration -run '^$' -bench Failover -benchtime 20x
func BenchmarkFailover(b *testing.B) {
	eachStore(b, func(b *testing.B, store cluster.Store) {
		var detections []time.Duration
		report := play(b, store, limits, func(s *stage) {
			j := cluster.Job{Name: "j1", Every: 3 * time.Second, Items: 12, Failover: true, Work: []time.Duration{2500 * time.Millisecond}}
			s.add(j)
			s.start("w1", "w2", "w3")
			for b.Loop() {
				s.covered()
				started := s.await(s.Mark(), "an item to start", of(history.Start))
				mark := s.Mark()
				killed := time.Duration(history.Mono())
				w := s.worker(started.Process)
				s.must(w.Kill())
				gone := s.await(mark, "the end of the session", func(e history.Event) bool { return e.Kind == history.Gone && e.Instance == started.Instance })
				detections = append(detections, time.Duration(gone.Mono)-killed)
				s.await(mark, "the failover", starts(j.Name, started.Item).as("FAILOVER"))
				s.start(w.Name[:2])
			}
		})
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(percentile(detections, 50), "ms-to-detect-p50")
		b.ReportMetric(percentile(report.TakeOvers, 50), "ms-to-rerun-p50")
		b.ReportMetric(percentile(report.TakeOvers, 99), "ms-to-rerun-p99")
		b.ReportMetric(float64(len(report.TakeOvers)), "reruns")
	})
}

// It measures how long the cluster needs after an outage in which all sessions ended: until
// the first item runs, and until every item has run. One outage cuts the links of all
// workers, the other one ends a majority of the store's members.
func BenchmarkHeal(b *testing.B) {
	for name, outage := range map[string]func(*stage) (heal func()){
		"links": func(s *stage) func() {
			for _, w := range s.Workers() {
				s.must(w.Break(cluster.CutOff))
			}
			return func() {
				for _, w := range s.Workers() {
					w.Mend()
				}
			}
		},
		"majority": func(s *stage) func() {
			return s.trouble("majority lost", func() error {
				return s.Store().Kill(0, 1)
			}, func() error {
				return s.Store().Restart(s.ctx, 0, 1)
			})
		},
	} {
		b.Run(name, func(b *testing.B) {
			eachStore(b, func(b *testing.B, store cluster.Store) {
				var first, every []time.Duration
				play(b, store, limits, func(s *stage) {
					j := quick
					j.Work = nil
					s.add(j)
					s.start("w1", "w2", "w3")
					for b.Loop() {
						s.covered()
						heal := outage(s)
						s.last(2 * limits.Session)
						mark := s.Mark()
						heal()
						healed := s.await(mark, "the end of the outage", of(history.Heal)).Mono
						started := s.await(mark, "an item to start", of(history.Start)).Mono
						first = append(first, time.Duration(started-healed))
						for i := range j.Items {
							started = max(started, s.await(mark, "each item to start", starts(j.Name, i)).Mono)
						}
						every = append(every, time.Duration(started-healed))
						s.settled()
					}
				})
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(percentile(first, 50), "ms-to-first-p50")
				b.ReportMetric(percentile(first, 99), "ms-to-first-p99")
				b.ReportMetric(percentile(every, 50), "ms-to-all-p50")
			})
		})
	}
}
