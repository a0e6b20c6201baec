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

// The example shows an item that succeeds, one that is skipped, and one that fails.
func TestRun(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out page
	if err := run(ctx, script.Supervise(), &out, 1); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`item 0: OK, <nil>, output "settling Beijing, run `,
		`item 1: OK, <nil>, output "settling Shanghai, run `,
		`item 2: FAILED, script: "/bin/sh": exit code 1: no connection, output "`,
		`level=INFO msg="settling Guangzhou, run `,
		`level=INFO msg="skipped: the script had nothing to do" job=settle item=1`,
		`level=WARN msg="no connection" job=settle item=2`,
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
