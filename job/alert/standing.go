package alert

import (
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// How long something lasts before a message tells of it: as the alerts of deploy/prometheus/rules.yaml.
const (
	missedAfter   = 3 * time.Minute  // ElasticJobTickMissed
	faultAfter    = 2 * time.Minute  // ElasticJobFault
	starvingAfter = 30 * time.Second // ElasticJobStarves
)

// subject is what a message about the whole job is about. Its fields are those of Message.
type subject struct {
	about About
	fault string
	over  bool // that it is over
}

// silent is what the silence of a scheduler is told as.
var silent = subject{about: AboutFault, fault: jobtype.FaultStore.String()}

// standing is what the process that leads a job has seen of the whole job. The zero standing, with its rules, has
// seen nothing.
type standing struct {
	missed, faults bool
	by             deadline
	missedAfter    time.Duration

	troubles map[subject]*trouble
	done     time.Time   // the last tick up to which all is known to be done
	heard    time.Time   // when the scheduler has said something last
	silence  *time.Timer // tells that it has not for faultAfter; nil if it need not
	isSilent bool        // it has told that
}

// trouble is something that holds of the whole job.
type trouble struct {
	began time.Time // when it was seen first
	told  bool      // by a message, or by one that waits
	sight
}

// sight is a trouble as it looks now.
type sight struct {
	subject
	patience time.Duration // how long it is to last
	what     string        // in a few words
	text     string        // the cause, if it is known
	tick     time.Time     // that it is about; zero if it is about none
	instance string        // that shows it
	items    []int
}

// HandleState tells of what holds of the whole job, if this process leads it. It does not wait for anything.
func (h *handler) HandleState(s job.JobState) {
	now := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.flushed {
		return
	}
	st, waits := &h.waits.standing, false
	switch {
	case s.Leads:
		st.isSilent = false
		waits = h.waits.follow(now, st.look(s))
		h.watchSilence(now)
	case st.isSilent: // it has told that itself, so nobody else will tell that it is over
		waits = h.waits.follow(now, st.without(silent))
	}
	if !s.Leads {
		st.forget()
	}
	if waits {
		h.wakeWorker()
	}
	h.count()
}

// stop ends the wait for the next word of the scheduler.
func (st *standing) stop() {
	if st.silence != nil {
		st.silence.Stop()
	}
}

// forget forgets what was seen.
func (st *standing) forget() {
	st.stop()
	*st = standing{missed: st.missed, faults: st.faults, by: st.by, missedAfter: st.missedAfter}
}

// without returns what was seen last, but for a subject.
func (st *standing) without(of subject) (seen []sight) {
	for _, t := range st.troubles {
		if t.subject != of {
			seen = append(seen, t.sight)
		}
	}
	return seen
}

// told counts the troubles of which messages tell.
func (st *standing) told() (n int) {
	for _, t := range st.troubles {
		if t.told {
			n++
		}
	}
	return n
}

// watchSilence waits for the next word of the scheduler. h.mu is locked.
func (h *handler) watchSilence(now time.Time) {
	st := &h.waits.standing
	st.heard = now
	switch {
	case !st.faults:
	case st.silence == nil:
		st.silence = time.AfterFunc(faultAfter, h.heardNothing)
	default:
		st.silence.Reset(faultAfter)
	}
}

// heardNothing tells that the scheduler of a leader has said nothing for faultAfter.
func (h *handler) heardNothing() {
	now := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	st := &h.waits.standing
	if h.flushed || st.silence == nil || st.isSilent || now.Sub(st.heard) < faultAfter {
		return
	}
	st.isSilent = true
	lost := faultSight(job.InstanceFault{Fault: job.Fault{
		Kind: jobtype.FaultStore, Err: fmt.Errorf("the leader has lost its session, or stands still: its scheduler has said nothing for %v", faultAfter),
	}})
	lost.patience = 0
	if h.waits.follow(now, append(st.without(silent), lost)) { // nothing tells that the others are over
		h.wakeWorker()
	}
	h.count()
}

// look returns what holds of the job that messages may tell of.
func (st *standing) look(s job.JobState) (seen []sight) {
	if st.faults {
		seen = faultsIn(s)
	}
	if st.missed && !s.Unbegun.IsZero() && s.Now.Sub(s.Unbegun) >= st.missedAfter {
		seen = append(seen, sight{subject: subject{about: AboutMissed}, what: "ticks came and nothing has started", tick: s.Unbegun.In(s.Now.Location())})
	}
	if st.by.text != "" {
		if late, ok := st.notDone(s); ok {
			seen = append(seen, late)
		}
	}
	return seen
}

// notDone returns what is late by the deadline.
func (st *standing) notDone(s job.JobState) (sight, bool) {
	tick := s.LastTick(st.by.passed(s.Now))
	if tick.IsZero() || !tick.After(st.done) {
		return sight{}, false
	}
	items := s.Undone(tick)
	if len(items) == 0 {
		st.done = tick
		return sight{}, false
	}
	return sight{subject: subject{about: AboutLate}, what: "not done " + st.by.text, tick: tick.In(s.Now.Location()), items: items}, true
}

// faultsIn returns one sight for each kind of faults, by the fault that began first.
func faultsIn(s job.JobState) (seen []sight) {
	first := map[jobtype.FaultKind]job.InstanceFault{}
	for _, f := range s.Faults {
		if is, isThere := first[f.Kind]; !isThere || f.Since.Before(is.Since) {
			first[f.Kind] = f
		}
	}
	for _, f := range first {
		seen = append(seen, faultSight(f))
	}
	return seen
}

// faultSight is a fault as an instance shows it.
func faultSight(f job.InstanceFault) sight {
	s := sight{
		subject: subject{about: AboutFault, fault: f.Kind.String()}, patience: faultAfter, what: "fault of the kind " + f.Kind.String(),
		instance: f.InstanceID, text: textOf(f.Err),
	}
	if f.Kind == jobtype.FaultStarvation {
		s.patience, s.what = starvingAfter, "items should have begun and have not"
	}
	return s
}

// follow adds what holds by now, and what is over. It reports whether a message waits now that did not before.
func (a *aggregate) follow(now time.Time, seen []sight) (waits bool) {
	st := &a.standing
	before := st.troubles
	st.troubles = make(map[subject]*trouble, len(seen))
	for _, is := range seen {
		t := before[is.subject]
		if t == nil {
			t = &trouble{began: now}
		}
		isNew := !t.told || is.tick.After(t.tick)
		t.sight = is
		if isNew && now.Sub(t.began) >= is.patience {
			t.told = true
			waits = a.addState(now, is) || waits
		}
		st.troubles[is.subject] = t
		delete(before, is.subject)
	}
	for _, t := range before {
		if t.told && a.recovery {
			t.over, t.text = true, ""
			waits = a.addState(now, t.sight) || waits
		}
	}
	return waits
}

// addState adds a trouble, or that it is over. It reports whether a message waits now that did not before.
func (a *aggregate) addState(now time.Time, is sight) bool {
	if over := a.states[subject{is.about, is.fault, true}]; over != nil && !is.over {
		over.count = 0 // it is not, after all
	}
	g := a.states[is.subject]
	if g == nil {
		g = &group{subject: is.subject}
		if a.states == nil {
			a.states = map[subject]*group{}
		}
		a.states[is.subject] = g
	}
	a.begin(g)
	g.items = items{}
	for _, item := range is.items {
		if g.items.add(item); g.items.more {
			break
		}
	}
	g.what = is.what
	g.add(now, is.text, Execution{ScheduledTime: is.tick, InstanceID: is.instance})
	return g.count == 1
}

// deadline is the property alert.by.
type deadline struct {
	after        time.Duration // the tick; 0: at hour and minute, in the zone of the job
	hour, minute int
	text         string // empty if there is none
}

const maxDeadline = 7 * 24 * time.Hour

func parseDeadline(text string) (d deadline, ok bool) {
	if at, err := time.Parse("15:04", text); err == nil {
		return deadline{hour: at.Hour(), minute: at.Minute(), text: "by " + text}, true
	}
	after, err := time.ParseDuration(text)
	if err != nil || after < time.Minute || after > maxDeadline {
		return deadline{}, false
	}
	return deadline{after: after, text: text + " after its tick"}, true
}

// passed returns up to which time ticks are to be done by now.
func (d deadline) passed(now time.Time) time.Time {
	if d.after > 0 {
		return now.Add(-d.after)
	}
	year, month, day := now.Date()
	at := time.Date(year, month, day, d.hour, d.minute, 0, 0, now.Location())
	if at.After(now) {
		at = time.Date(year, month, day-1, d.hour, d.minute, 0, 0, now.Location())
	}
	return at.Add(-1) // a tick at that time has until tomorrow
}
