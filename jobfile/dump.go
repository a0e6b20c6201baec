package jobfile

import (
	"net/http"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/job"
)

// dump shows how the jobs of this process stand.
type dump struct {
	app     *App
	section *section
}

// shownItems bounds each list of items.
const shownItems = 1000

// shownJob is a [job.Status] as JSON. Times that are zero, and what is empty, are left out.
type shownJob struct {
	Job           string       `json:"job"`
	InstanceID    string       `json:"instanceId,omitempty"`
	Session       string       `json:"session"`
	Registered    bool         `json:"registered"`
	Enabled       bool         `json:"enabled"`
	Leader        bool         `json:"leader"`
	Leaving       bool         `json:"leaving,omitempty"`
	Stopped       string       `json:"stopped,omitempty"` // why, if it has stopped by itself
	Paused        *shownPause  `json:"paused,omitempty"`
	Items         []int        `json:"items"` // at most shownItems, as Running
	ItemCount     int          `json:"itemCount"`
	Running       []int        `json:"running"`
	RunningCount  int          `json:"runningCount"`
	Waiting       []shownWait  `json:"waiting,omitempty"`
	LastTick      time.Time    `json:"lastTick,omitzero"`
	NextTick      time.Time    `json:"nextTick,omitzero"`
	LastError     string       `json:"lastError,omitempty"`
	LastErrorTime time.Time    `json:"lastErrorTime,omitzero"`
	Faults        []shownFault `json:"faults,omitempty"`
}

type shownPause struct {
	Since  time.Time `json:"since"`
	By     string    `json:"by,omitempty"`
	Why    string    `json:"why,omitempty"`
	MakeUp bool      `json:"makeUp"`
}

type shownWait struct {
	Item  int       `json:"item"`
	Since time.Time `json:"since"`
	Why   string    `json:"why,omitempty"`
}

type shownFault struct {
	Kind  string    `json:"kind"`
	Error string    `json:"error"`
	Since time.Time `json:"since"`
}

func show(s *job.Scheduler) shownJob {
	status := s.Status()
	j := shownJob{
		Job: s.Name(), InstanceID: status.InstanceID, Session: status.Session.String(), Registered: status.Registered,
		Enabled: status.Enabled, Leader: status.Leader, Leaving: status.Leaving,
		Items: firstOf(status.Items), ItemCount: len(status.Items), Running: firstOf(status.Running), RunningCount: len(status.Running),
		LastTick: status.LastTick, NextTick: status.NextTick, LastErrorTime: status.LastErrorTime, Faults: faultsOf(status.Faults),
	}
	if status.LastError != nil {
		j.LastError = brief.Error(status.LastError).Error()
	}
	if err := s.Err(); err != nil {
		j.Stopped = brief.Error(err).Error()
	}
	if p := status.Paused; p != (job.Pause{}) {
		j.Paused = &shownPause{p.Since, p.By, p.Why, p.MakeUp}
	}
	for _, w := range status.Waiting {
		j.Waiting = append(j.Waiting, shownWait{w.Item, w.Since, w.Why})
	}
	return j
}

func firstOf(items []int) []int { return append([]int{}, items[:min(len(items), shownItems)]...) }

func faultsOf(faults []job.Fault) []shownFault {
	var list []shownFault
	for _, f := range faults {
		list = append(list, shownFault{f.Kind.String(), brief.Error(f.Err).Error(), f.Since})
	}
	return list
}

// jobs lists the names of the jobs that run here.
func (d *dump) jobs(w http.ResponseWriter, _ *http.Request) {
	names := []string{}
	for _, s := range d.app.node.Jobs() {
		if d.section.isFor(s.Name()) {
			names = append(names, s.Name())
		}
	}
	answer(w, struct {
		Jobs []string `json:"jobs"`
	}{names})
}

func (d *dump) job(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	s := d.app.node.Job(name)
	if s == nil || !d.section.isFor(name) {
		http.Error(w, "no such job runs here", http.StatusNotFound)
		return
	}
	answer(w, show(s))
}
