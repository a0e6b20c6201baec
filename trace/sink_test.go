package trace_test

import (
	"context"
	"errors"
	"runtime"
	"sync"

	"github.com/elasticjob-go/elasticjob/trace"
)

// answer is what a planned sink does with a batch.
type answer int

const (
	keeps answer = iota
	refuses
	keepsAndFails // the batch is there, but the answer says that it is not
	panics
	exits       // runtime.Goexit
	takesLong   // until its context ends; then it has not kept the batch
	isDeaf      // until release; then it has kept the batch
	failsDeaf   // until release; then it has not kept the batch
	manyAnswers = iota
)

var errRefused = errors.New("refused")

// planned is a sink that does what its plan says, one answer a call, and then always keeps.
type planned struct {
	mu      sync.Mutex
	plan    []answer
	calls   int
	within  int // calls at this moment
	most    int
	release chan struct{} // closed when those that are deaf hear
	batches []trace.Batch // that it was given and has kept
}

func newPlanned(plan ...answer) *planned {
	return &planned{plan: plan, release: make(chan struct{})}
}

func (s *planned) Write(ctx context.Context, b trace.Batch) error {
	s.mu.Lock()
	todo := keeps
	if s.calls < len(s.plan) {
		todo = s.plan[s.calls]
	}
	s.calls++
	s.within++
	s.most = max(s.most, s.within)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.within--
		s.mu.Unlock()
	}()
	switch todo {
	case refuses:
		return errRefused
	case keepsAndFails:
		s.keep(b)
		return errRefused
	case panics:
		panic("a sink")
	case exits:
		runtime.Goexit()
	case takesLong:
		<-ctx.Done()
		return context.Cause(ctx)
	case isDeaf:
		<-s.release
	case failsDeaf:
		<-s.release
		return errRefused
	}
	s.keep(b)
	return nil
}

// called returns how often the sink was called.
func (s *planned) called() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

func (s *planned) keep(b trace.Batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.batches = append(s.batches, b)
}

// events returns those that were kept, in their order, each once.
func (s *planned) events() []trace.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []trace.Event
	seen := map[string]bool{}
	for _, b := range s.batches {
		for _, e := range b.Events {
			if !seen[e.ID] {
				list = append(list, e)
			}
			seen[e.ID] = true
		}
	}
	return list
}

// lines returns those that were kept, in their order, each once.
func (s *planned) lines() []trace.Line {
	type key struct {
		task   string
		number int
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []trace.Line
	seen := map[key]bool{}
	for _, b := range s.batches {
		for _, l := range b.Lines {
			if k := (key{l.TaskID, l.Number}); !seen[k] {
				list, seen[k] = append(list, l), true
			}
		}
	}
	return list
}
