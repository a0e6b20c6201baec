//go:build unix

package main

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/job/script"
)

func TestMain(m *testing.M) {
	script.Supervise()
	goleak.VerifyTestMain(m)
}

// Both jobs run, the first one also as it was changed, and stop when they are removed.
func TestRun(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out page
	if err := run(ctx, script.Supervise(), &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, want := range []string{
		`report, item 1: OK, "item 1 of 2"`,
		`morning, item 0: OK, "good morning, Beijing"`,
		`: OK, "a better report"`,
		`level=INFO msg="the runner serves jobs" offers="SCRIPT, greet"`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("there is no %s in\n%s", want, &out)
		}
	}
}

// page is a writer for several goroutines.
type page struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (p *page) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(text)
}

func (p *page) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}
