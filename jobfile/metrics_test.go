package jobfile

import (
	"strconv"
	"testing"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Jobs that come and go for ever do not fill the memory with counters.
func TestMeterIsBounded(t *testing.T) {
	m := newMeter()
	o := m.observer()
	for n := range maxCounted + 50 {
		e := job.Event{Kind: jobtype.EventStarted, JobName: "job-" + strconv.Itoa(n)}
		o(e)
		o(e)
	}
	if n := len(m.counts); n != maxCounted+1 {
		t.Errorf("counters of %d jobs", n)
	}
	if first, others := m.counts["job-0"], m.counts[otherJobs]; first.Started != 2 || others.Started != 100 {
		t.Errorf("%+v, %+v", first, others)
	}
}
