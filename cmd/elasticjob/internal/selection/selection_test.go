package selection_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/selection"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/ops"
)

func TestSelection(t *testing.T) {
	all := []ops.JobInfo{{Name: "other"}, {Name: "pay-a", Label: "gpu"}, {Name: "pay-b"}, {Name: "über", JVMOnly: true}}
	for _, tc := range []struct {
		args, want string
	}{
		{"pay-a", "pay-a"},
		{"pay-b other pay-b", "other pay-b"},
		{"pay-*", "pay-a pay-b"},
		{"pay-[a] o?her", "other pay-a"},
		{"--all", "other pay-a pay-b"},
		{"--label gpu", "pay-a"},
		{"", "JOB is missing: names or patterns such as 'pay-*', --label or --all: elasticjob pause JOB… [flags]"},
		{"pay-a --all", "allowed is one of names or patterns, --label or --all"},
		{"--label gpu --all", "allowed is one of"},
		{"[a", `"[a" is no pattern`},
		{"pay-a nobody", `"nobody": ops: no such job; the names are "other", "pay-a", "pay-b"`},
		{"pey-*", `"pey-*": ops: no such job; did you mean "pay-a" or "pay-b"?`},
		{"--label cpu", `label "cpu": ops: no such job; did you mean "gpu"?`},
		{"ü*", `"ü*": ops: no such job`},
	} {
		var s selection.Selection
		var got []string
		root, cmd := &cobra.Command{Use: "elasticjob", SilenceErrors: true, SilenceUsage: true}, &cobra.Command{Use: "pause JOB…"}
		root.AddCommand(cmd)
		s.Flags(cmd, true)
		cmd.RunE = func(*cobra.Command, []string) error {
			chosen, err := s.Of(all)
			for _, j := range chosen {
				got = append(got, j.Name)
			}
			return err
		}
		root.SetArgs(append([]string{"pause"}, strings.Fields(tc.args)...))
		text := ""
		if err := root.Execute(); err != nil {
			text = err.Error()
		}
		if text += strings.Join(got, " "); !strings.Contains(text, tc.want) {
			t.Errorf("%q: %s, want %s", tc.args, text, tc.want)
		}
	}
}

// One that fails stops no other, and what it says is bounded. If the store is away, no further one begins.
func TestEach(t *testing.T) {
	jobs := make([]string, 100)
	for i := range jobs {
		jobs[i] = fmt.Sprint("job-", i)
	}
	odd := errors.New("odd")
	var done atomic.Int64
	var told []int
	err := selection.Each(t.Context(), jobs, func(n, of int) { told = append(told, n) }, func(i int, job string) error {
		if done.Add(1); job != jobs[i] {
			t.Errorf("%d: %s", i, job)
		}
		if i%2 == 1 {
			return fmt.Errorf("job %s: %w", job, odd)
		}
		return nil
	})
	if text := err.Error(); done.Load() != 100 || !errors.Is(err, odd) || !strings.HasPrefix(text, "50 of 100 jobs failed: job job-1: odd\n") || !strings.HasSuffix(text, "job job-9: odd\nand 45 more") {
		t.Errorf("%d: %v", done.Load(), err)
	}
	if len(told) != 100 || !slices.IsSorted(told) {
		t.Errorf("the progress was %v", told)
	}
	begun := atomic.Int64{}
	err = selection.Each(t.Context(), jobs, nil, func(int, string) error {
		begun.Add(1)
		return coord.ErrUnavailable
	})
	if begun.Load() > 8 || !errors.Is(err, coord.ErrUnavailable) || !strings.HasPrefix(err.Error(), "100 of 100") {
		t.Errorf("%d have begun: %v", begun.Load(), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = selection.Each(ctx, jobs[:1], nil, func(int, string) error { return nil })
	if !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "job job-0: not tried") {
		t.Error(err)
	}
}
