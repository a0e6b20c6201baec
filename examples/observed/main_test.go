package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"regexp"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The program finds what has happened, in each of the ways.
func TestRun(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out bytes.Buffer
	if err := run(ctx, "", slog.New(slog.NewTextHandler(t.Output(), nil)), &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, want := range []string{
		`from memory:\n  INFO asks the bank city=Shanghai attempt=1\n`,
		`  /settle/sharding/2/instance \| ip1@-@`,
		`elasticjob_executions_finished_total\{job_name="settle",job_namespace="billing",outcome="failed"\} [1-9]`,
		`elasticjob_retries_total\{job_name="settle",job_namespace="billing"\} [1-9]`,
		`  item 0 for ..:..:..: OK after 1 attempts`,
		`  item 1 for ..:..:..: OK after 2 attempts`,
		`  from .*[[ ]FAILED:[1-9]`,
		`  from .*[[ ]OK:[1-9]`,
		`What failed last: item 2 for ..:..:..: the bank does not answer\n  INFO asks the bank city=Guangzhou attempt=1\n  INFO asks the bank city=Guangzhou attempt=2\nIts trace [0-9a-f]{32} has the spans .*run settle.*\n$`,
	} {
		if !regexp.MustCompile(want).Match(out.Bytes()) {
			t.Errorf("there is no %s in\n%s", want, &out)
		}
	}
}

// The program ends in order when it is interrupted at once.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(ctx, "", slog.New(slog.DiscardHandler), io.Discard); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// What puts all together is short enough to be read.
func TestLength(t *testing.T) {
	text, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	if lines := bytes.Count(text, []byte("\n")); lines >= 150 {
		t.Errorf("%d lines, want less than 150", lines)
	}
}
