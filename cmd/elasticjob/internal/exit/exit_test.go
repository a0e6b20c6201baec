package exit_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

func TestTable(t *testing.T) {
	last := exit.Code(-1)
	for _, m := range exit.Meanings() {
		if m.Code <= last || m.Meaning == "" {
			t.Errorf("code %d is out of order, or means nothing", m.Code)
		}
		last = m.Code
	}
}

func TestCodes(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want exit.Code
	}{
		{nil, exit.Done},
		{errors.New("any"), exit.Failed},
		{exit.Errorf(exit.Findings, "some"), exit.Findings},
		{fmt.Errorf("with words: %w", exit.With(exit.Usage, ops.ErrNoJob)), exit.Usage},
		{fmt.Errorf("job settle: %w", ops.ErrNoJob), exit.NotFound},
		{ops.ErrConfigChanged, exit.Conflict},
		{fmt.Errorf("%w: %w", ops.ErrBusy, coord.ErrConflict), exit.Conflict},
		{&coord.ConflictError{Reason: coord.ErrDenied}, exit.Denied},
		{fmt.Errorf("%w: %w", coord.ErrUnavailable, coord.ErrDenied), exit.Denied},
		{coord.ErrUnavailable, exit.Unreachable},
		{fmt.Errorf("%w: %w", coord.ErrUnknownOutcome, context.DeadlineExceeded), exit.Unreachable},
		{context.DeadlineExceeded, exit.NotInTime},
		{&job.ConfigError{}, exit.Usage},
	} {
		if got := exit.Of(tc.err); got != tc.want {
			t.Errorf("%v: got %d, want %d", tc.err, got, tc.want)
		}
	}
	if exit.With(exit.Failed, nil) != nil {
		t.Error("no error has become one")
	}
}

// Each error that package ops wants to be told apart has a code of its own.
func TestErrorsOfOps(t *testing.T) {
	table, err := os.ReadFile("exit.go")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../../../ops/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile(`(?m)^(?:var |\t)(Err\w+) += `).FindAllSubmatch(source, -1) {
			if !strings.Contains(string(table), "{ops."+string(match[1])+",") {
				t.Errorf("ops.%s has no code in exit.go", match[1])
			}
		}
	}
}
