package main

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
)

// report is what an instance says about a run, as a line of JSON on its standard
// output. What it has written stays in the pipe when it is killed.
type report struct {
	Kind   kind      `json:"kind"`
	At     time.Time `json:"at"`
	Item   int       `json:"item"`
	Tick   time.Time `json:"tick"`
	Source string    `json:"source"`
	Token  int64     `json:"token"`

	Done   int     `json:"done,omitempty"`   // files until now, of Files
	Files  int     `json:"files,omitempty"`  // of the item
	Result *result `json:"result,omitempty"` // of a run that succeeded
	Error  string  `json:"error,omitempty"`  // of one that did not
	Cut    bool    `json:"cut,omitempty"`    // its context ended before it did
}

// kind says which part of a run a report is about.
type kind string

const (
	begins kind = "begins"
	goesOn kind = "goes on"
	ends   kind = "ends"
)

// outcome is how the run ended, in a report on its end.
func (r report) outcome() outcome {
	switch {
	case r.Cut:
		return cutShort
	case r.Error != "":
		return failed
	}
	return finished
}

// reportOf begins a report about a run.
func reportOf(sc job.ShardingContext) report {
	return report{Item: sc.Item, Tick: sc.ScheduledTime, Source: sc.Source.String(), Token: sc.Token}
}

// reporter writes reports. Its methods may be called from any goroutine.
type reporter struct {
	mu  sync.Mutex
	out io.Writer
}

func (w *reporter) send(k kind, r report) error {
	r.Kind, r.At = k, time.Now()
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("report on item %d: %w", r.Item, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := w.out.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("report on item %d: %w", r.Item, err)
	}
	return nil
}
