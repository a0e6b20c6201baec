package connection

import (
	"sync"
	"time"
)

// Phase says how it stands with a connection.
type Phase string

// The phases.
const (
	Idle       Phase = "idle" // nobody has asked for it
	Connecting Phase = "connecting"
	Connected  Phase = "connected"
	Away       Phase = "away"
)

// State is how it stands with a namespace or a database.
type State struct {
	// What is namespace or database.
	What  string    `json:"what"`
	Name  string    `json:"name"`
	Phase Phase     `json:"phase"`
	Since time.Time `json:"since"`
	// Error is why it is away. It has no secret, and 500 bytes at most.
	Error string `json:"error,omitempty"`
}

// tracker keeps a state.
type tracker struct {
	mu    sync.Mutex
	state State
}

func newTracker(what, name string) *tracker {
	return &tracker{state: State{What: what, Name: name, Phase: Idle, Since: time.Now()}}
}

func (t *tracker) get() State {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state
}

// set notes a phase. What is away stays so until it is connected.
func (t *tracker) set(phase Phase, why error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if phase == Connecting && t.state.Phase != Idle {
		return
	}
	if phase != t.state.Phase {
		t.state.Phase, t.state.Since = phase, time.Now()
	}
	t.state.Error = ""
	if why != nil {
		t.state.Error = hide(why, "").Error()
	}
}
