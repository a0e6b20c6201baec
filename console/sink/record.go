package sink

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/internal/fair"
	"github.com/elasticjob-go/elasticjob/internal/veil"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Record is a line: exactly one of Event and Change is there.
type Record struct {
	Time time.Time `json:"time"`
	// Trace is "access" with an Event, and "audit" with a Change.
	Trace     string        `json:"trace"`
	Event     *access.Event `json:"event,omitempty"`
	Namespace string        `json:"namespace,omitempty"` // the console's name for it
	Change    *ops.Change   `json:"change,omitempty"`
}

// maxLine is what a packet of UDP has room for. A line of more is without Before and After.
const maxLine = 60 << 10

// Event sends a log-in, or a change of users or connections.
func (s *Sinks) Event(e access.Event) {
	s.put(Record{Time: e.Time, Trace: "access", Event: &e}, e.By)
}

// Change sends a change in a namespace, without the secrets that package veil knows. One of several commits is sent once.
func (s *Sinks) Change(namespace string, c ops.Change) {
	if !s.isNew(c.ID) {
		return
	}
	c.Before, c.After = veil.Document(c.Before), veil.Document(c.After)
	s.put(Record{Time: c.At, Trace: "audit", Namespace: namespace, Change: &c}, c.By)
}

// isNew reports whether a change was made, and is not the one that has come last.
func (s *Sinks) isNew(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	isNew := id != "" && id != s.last
	s.last = id
	return isNew
}

func (s *Sinks) put(r Record, by string) {
	if len(s.all) == 0 {
		return
	}
	text, err := encode(r)
	if err == nil && len(text) > maxLine && r.Change != nil {
		r.Change.Before, r.Change.After, r.Change.Cut = "", "", true
		text, err = encode(r)
	}
	for _, o := range s.all {
		if err != nil {
			o.lose(1, err)
			continue
		}
		o.put(line{owner: fair.Owner(by), text: text})
	}
}

// encode leaves <, > and & as they are: they would need six bytes each.
func encode(r Record) ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(r)
	return text.Bytes(), err
}
