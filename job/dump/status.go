package dump

import (
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/job"
)

// MaxItems bounds each list of items of a Status.
const MaxItems = 1000

// Status is a [job.Status] as JSON. Times that are zero, and what is empty, are left out.
type Status struct {
	Job           string    `json:"job"`
	InstanceID    string    `json:"instanceId,omitempty"`
	Session       string    `json:"session"`
	Registered    bool      `json:"registered"`
	Enabled       bool      `json:"enabled"`
	Leader        bool      `json:"leader"`
	Leaving       bool      `json:"leaving,omitempty"`
	Expired       bool      `json:"expired,omitempty"`
	Stopped       string    `json:"stopped,omitempty"` // why, if it has stopped
	Paused        *Pause    `json:"paused,omitempty"`
	Items         []int     `json:"items"` // the first MaxItems, as of Running
	ItemCount     int       `json:"itemCount"`
	Running       []int     `json:"running"`
	RunningCount  int       `json:"runningCount"`
	Waiting       []Waiting `json:"waiting,omitempty"`
	LastTick      time.Time `json:"lastTick,omitzero"`
	NextTick      time.Time `json:"nextTick,omitzero"`
	LastError     string    `json:"lastError,omitempty"` // the first 500 bytes, as of all errors
	LastErrorTime time.Time `json:"lastErrorTime,omitzero"`
	Faults        []Fault   `json:"faults,omitempty"`
}

// Pause says since when a job is paused, and what the operator has said.
type Pause struct {
	Since  time.Time `json:"since"`
	By     string    `json:"by,omitempty"`
	Why    string    `json:"why,omitempty"`
	MakeUp bool      `json:"makeUp"`
}

// Waiting is an item that should have begun and has not.
type Waiting struct {
	Item  int       `json:"item"`
	Since time.Time `json:"since"`
	Why   string    `json:"why,omitempty"`
}

// Fault is something that keeps the job from running as it should.
type Fault struct {
	Kind  string    `json:"kind"`
	Error string    `json:"error"`
	Since time.Time `json:"since"`
}

// StatusOf returns how a scheduler stands now.
func StatusOf(s *job.Scheduler) Status {
	now := s.Status()
	status := Status{
		Job: s.Name(), InstanceID: now.InstanceID, Session: now.Session.String(), Registered: now.Registered,
		Enabled: now.Enabled, Leader: now.Leader, Leaving: now.Leaving, Expired: now.Expired, Stopped: stopped(s),
		Items: firstOf(now.Items), ItemCount: len(now.Items), Running: firstOf(now.Running), RunningCount: len(now.Running),
		LastTick: now.LastTick, NextTick: now.NextTick, LastErrorTime: now.LastErrorTime,
	}
	if now.LastError != nil {
		status.LastError = brief.Error(now.LastError).Error()
	}
	if p := now.Paused; p != (job.Pause{}) {
		status.Paused = &Pause{p.Since, p.By, p.Why, p.MakeUp}
	}
	for _, w := range now.Waiting {
		status.Waiting = append(status.Waiting, Waiting{w.Item, w.Since, w.Why})
	}
	for _, f := range now.Faults {
		status.Faults = append(status.Faults, Fault{f.Kind.String(), brief.Error(f.Err).Error(), f.Since})
	}
	return status
}

// stopped says why a scheduler has stopped; "" if it has not.
func stopped(s *job.Scheduler) string {
	select {
	case <-s.Done():
	default:
		return ""
	}
	if err := s.Err(); err != nil {
		return brief.Error(err).Error()
	}
	return "it was shut down"
}

func firstOf(items []int) []int { return append([]int{}, items[:min(len(items), MaxItems)]...) }
