package job_test

import (
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops/doctor"
)

// That somebody else has ended a session is a fault of the next instance, which operators see for a while.
func TestSessionThatSomebodyElseEnds(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, store *memory.Store) {
		cfg := c.config()
		cfg.Cron = rarely
		log, logged := newLogbook()
		m := c.join("10.0.0.1", cfg, nil, logged)
		before := m.awaitStatus("it is there", func(s job.Status) bool { return s.Registered }).InstanceID
		c.pass(time.Minute)
		if !store.Disown(c.state().Sessions[before].Owner) {
			t.Fatal("there is no such session")
		}
		says := "instance " + before + ": session lost: somebody else ended it"
		id := m.awaitFault(jobtype.FaultTree, says).InstanceID
		c.pass(time.Minute)
		report, err := doctor.Examine(t.Context(), c.admin, doctor.Options{})
		c.must(err)
		if len(report.Findings) != 1 || report.Findings[0].Instance != id || !strings.Contains(report.Findings[0].Cause, says) {
			t.Errorf("the doctor finds %v", report.Findings)
		}
		c.pass(10 * time.Minute)
		if faults := m.Status().Faults; len(faults) > 0 {
			t.Errorf("there are still faults: %v", faults)
		}
		lines := log.says("job is at fault")
		if len(lines) != 1 || !strings.Contains(lines[0]["cause"].(string), says) {
			t.Errorf("the log says %v", lines)
		}
	})
}
