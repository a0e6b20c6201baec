package diagnose

import (
	"cmp"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/commit"
	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/internal/engine/health"
	"github.com/elasticjob-go/elasticjob/internal/engine/pool"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Config is what a diagnosis is made with.
type Config struct {
	Registry       coord.Registry
	View           coord.View
	Commits        *commit.Committer
	Faults         *health.Faults
	Threads        *pool.Reservation // that jobs of the process share
	Implementation string            // of this program
	Now            func() time.Time
	WakeIn         func(time.Duration) // has the job make a pass after that time
	Grace          time.Duration       // for handlers to return after their contexts have ended
}

// Diagnosis watches whether a job runs.
type Diagnosis struct {
	config Config

	suspended    clocks.Condition // the session is not renewed
	unregistered clocks.Condition // this instance is not in the tree
	leaderless   clocks.Condition // nobody leads
	unrecorded   clocks.Condition // the schedule is not recorded
	outdated     clocks.Condition // the job has another implementation
	itemless     clocks.Condition // this instance has no item of a broadcast job

	ended   error         // why the last session that somebody else has ended was lost; nil if none was, or long ago
	endedAt clocks.Moment // when that was

	late    map[int]lateness  // items that should have begun
	watched clocks.Moment     // when items were looked at last
	waiting []jobtype.Waiting // the items that are late for too long

	unreturned map[*exec.Signals]bool // the executions of which the log says that their handlers do not return

	toldLeads bool          // what error handlers were told last of how the job stands
	toldAt    clocks.Moment // when that was

	recorded   string        // what was written into faults/{id} last
	recordedAt clocks.Moment // when that was
}

// New returns a diagnosis that has not looked yet.
func New(c Config) *Diagnosis { return &Diagnosis{config: c} }

// Pass is what a pass knows of a job.
type Pass struct {
	World    *decide.World
	Work     *decide.Work
	Settings *setup.Settings // whose rules the world has
	Session  coord.Session
	Refused  bool               // a newer configuration is refused, which is a fault already
	Leaving  bool               // this instance is on its way out
	Threads  int                // how many handlers may run
	Runs     func() map[int]Run // the executions of this process, by item
}

// Run is an execution in this process.
type Run struct {
	*decide.Run
	Phase   exec.Phase
	Begun   time.Time // when the handler was called
	IsHeld  bool      // it waits for Started of its tick
	Signals *exec.Signals
}

// Check sets the faults of this instance, as a full pass shows them, and tells error handlers how the job stands.
func (d *Diagnosis) Check(p Pass) {
	set := func(kind jobtype.FaultKind, err error) { d.config.Faults.Set(p.World.Self.ID, kind, err) }
	set(jobtype.FaultStore, d.storeFault(p))
	set(jobtype.FaultClock, d.clockFault(p))
	set(jobtype.FaultTree, d.treeFault(p.World))
	if d.isTimeToWatch(p.World.Moment) {
		runs := p.Runs()
		set(jobtype.FaultStarvation, cmp.Or(d.starvation(p, runs), d.returnFault(p, runs), d.itemlessFault(p)))
	}
	if !p.Refused {
		set(jobtype.FaultConfig, cmp.Or(d.scheduleFault(p), broadcastFault(p.World), expiryFault(p.World), d.implementationFault(p)))
	}
	d.tellState(p)
}

// Waiting returns the items that should have begun, and are late for too long.
func (d *Diagnosis) Waiting() []jobtype.Waiting { return d.waiting }

// track notes whether something holds, and reports whether it has held for patience. If it
// holds for less, the job looks again when that time is over.
func (d *Diagnosis) track(s *clocks.Condition, holds bool, now clocks.Moment, patience time.Duration) bool {
	held := s.Track(holds, now)
	if holds && held < patience {
		d.config.WakeIn(patience - held)
	}
	return holds && held >= patience
}
