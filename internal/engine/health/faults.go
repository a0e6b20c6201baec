package health

import (
	"iter"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// quietTime is how soon after its end a fault counts as come back. Such a fault is over only
// when it has stayed away for that long: one that comes and goes must not fill the log.
const quietTime = 30 * time.Second

// Faults are what is wrong with a job, as far as this instance knows: one fault of each kind at
// most. They belong to the goroutine of the job's loop.
type Faults struct {
	View     coord.View
	Reporter *Reporter
	Log      *zap.Logger
	Clock    Clock
	WakeIn   func(time.Duration) // has the job make a pass after that time

	byKind [jobtype.FaultCalendar + 1]*recurring // nil until the first of its kind
}

// recurring is a fault that holds, or was over and may come back.
type recurring struct {
	jobtype.Fault                  // Err is nil while it does not hold
	began         clocks.Moment    // when it began
	ended         clocks.Moment    // when it was over last; zero if it never was
	hasRecurred   bool             // it began again within quietTime of that
	quiet         clocks.Condition // it does not hold
}

// Set notes that a fault holds for an instance, or with a nil err that it does not. Status shows
// a fault as long as it lasts; the log says when it begins and when it is over.
func (all *Faults) Set(instance string, kind jobtype.FaultKind, err error) {
	f, now := all.byKind[kind], all.Clock.Moment()
	if f == nil {
		if err == nil {
			return
		}
		f = &recurring{}
		all.byKind[kind] = f
	}
	quiet := f.quiet.Track(err == nil, now)
	switch {
	case err == nil && f.Err == nil:
	case err == nil && f.hasRecurred && quiet < quietTime:
		all.WakeIn(quietTime - quiet)
	case err == nil:
		f.ended = now
		all.Reporter.Fault(instance, f.Fault, true)
		all.Log.Info("fault is over", zap.Stringer("kind", kind), zap.Duration("after", now.Sub(f.began).Round(time.Millisecond)))
		f.Fault = jobtype.Fault{}
	case f.Err == nil:
		f.hasRecurred = !f.ended.IsZero() && now.Sub(f.ended) < quietTime
		f.Fault, f.began = jobtype.Fault{Kind: kind, Err: err, Since: faultSince(all.View.Fault(), kind, all.Clock.Now())}, now
		all.Reporter.Fault(instance, f.Fault, false)
		all.Log.Error("job is at fault", Advice(kind, err)...)
	case f.Err.Error() != err.Error():
		f.Err, f.Since = err, faultSince(all.View.Fault(), kind, f.Since)
	}
}

// End tells that an instance ends, and its faults with it.
func (all *Faults) End(instance string) {
	for f := range all.Holding() {
		all.Reporter.Fault(instance, f, true)
	}
}

// Holding goes over the faults that hold.
func (all *Faults) Holding() iter.Seq[jobtype.Fault] {
	return func(yield func(jobtype.Fault) bool) {
		for _, f := range all.byKind {
			if f != nil && f.Err != nil && !yield(f.Fault) {
				return
			}
		}
	}
}
