package main

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
)

// stage is what a tab takes for its test: what would fail that is an error. It has those of the methods that a tab calls.
type stage struct {
	testing.TB
	errs []error
	ends []func()
}

// onStage does something with a stage of its own, and returns what went wrong.
func onStage(do func(*stage)) error {
	s := &stage{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer s.end()
		do(s)
	}()
	<-done
	return errors.Join(s.errs...)
}

// end does what Cleanup was told, the last first. One that ends the goroutine does not keep the others from being done.
func (s *stage) end() {
	if len(s.ends) == 0 {
		return
	}
	last := s.ends[len(s.ends)-1]
	s.ends = s.ends[:len(s.ends)-1]
	defer s.end()
	last()
}

func (s *stage) Helper()                   {}
func (s *stage) Failed() bool              { return len(s.errs) > 0 }
func (s *stage) Cleanup(do func())         { s.ends = append(s.ends, do) }
func (s *stage) Errorf(f string, a ...any) { s.errs = append(s.errs, fmt.Errorf(f, a...)) }

func (s *stage) Fatal(a ...any) {
	s.errs = append(s.errs, errors.New(fmt.Sprint(a...)))
	runtime.Goexit()
}

func (s *stage) Fatalf(f string, a ...any) { s.Fatal(fmt.Sprintf(f, a...)) }
func (s *stage) Skip(a ...any)             { s.Fatal(a...) }
