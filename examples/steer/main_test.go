package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRun(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out strings.Builder
	if err := run(ctx, &out); err != nil {
		t.Fatal(err)
	}
	const want = `report: 3 items, "0 0 3 * * ?"
paused
item 2 for "": FAILED, "no month was given"
item 2 for "2026-10": OK, ""
resumed
audit: resume by anna, ""
audit: trigger by anna, "item 2"
audit: trigger by anna, "item 2"
audit: pause by anna, ""
`
	if out.String() != want {
		t.Errorf("it says\n%swant\n%s", &out, want)
	}
}

// An operator who is interrupted leaves no pause behind.
func TestResumesWhenInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var lines []string
	err := run(ctx, writer(func(line string) {
		lines = append(lines, line)
		if line == "paused\n" {
			interrupt()
		}
	}))
	if !errors.Is(err, context.Canceled) || lines[len(lines)-1] != "resumed\n" {
		t.Errorf("%v; it says %q", err, lines)
	}
}

// writer is told of each line.
type writer func(line string)

func (w writer) Write(line []byte) (int, error) {
	w(string(line))
	return len(line), nil
}
