package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The example ends, and shows what it says.
func TestRun(t *testing.T) {
	t.Setenv("BILLING_TOKEN", "for-test")
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	var out strings.Builder
	if err := run(ctx, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, says := range []string{
		`server: {"city": "Shanghai", "token": `, ": 503, come back in a second",
		"server: Guangzhou: 202, not yet", "worker: item 2: OK after ", ": settled at last",
		"worker: item 1: OK after ", "worker: item 0: OK after ",
	} {
		if !strings.Contains(out.String(), says) {
			t.Errorf("it does not say %q:\n%s", says, &out)
		}
	}
	if strings.Contains(out.String(), "for-test") {
		t.Errorf("it shows the secret:\n%s", &out)
	}
}

// Ctrl-C ends it.
func TestRunIsStopped(t *testing.T) {
	t.Setenv("BILLING_TOKEN", "for-test")
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, stop)
	var out strings.Builder
	if err := run(ctx, &out); err == nil {
		t.Errorf("it has not been stopped:\n%s", &out)
	}
}
