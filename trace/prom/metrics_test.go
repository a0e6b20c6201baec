package prom_test

import (
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/trace/prom"
)

func TestScheduleIsMeasured(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		a := f.process("a", prom.Options{Namespace: "billing"})
		a.schedule(every("settle", "0/10 * * * * ?"), lasts(2*time.Second))
		pass(61 * time.Second)
		for _, s := range a.scrape() {
			t.Log(s, s.value)
		}
	})
}
