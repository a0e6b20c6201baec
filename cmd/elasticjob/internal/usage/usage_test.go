package usage_test

import (
	"errors"
	"testing"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/usage"
)

// A wrong number of arguments names the one that is missing.
func TestExplain(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"get"}, "JOB is missing: elasticjob get JOB [flags]"},
		{[]string{"get", "a", "b"}, `2 arguments are too many: elasticjob get JOB [flags]`},
		{[]string{"set", "a"}, "KEY=VALUE is missing: elasticjob set JOB KEY=VALUE… [flags]"},
		{[]string{"set", "a", "b", "c"}, ""},
		{[]string{"of", "list", "a", "b"}, `2 arguments are too many: elasticjob of list [NAME] [flags]`},
		{[]string{"own", "x"}, "one of a and b is allowed"},
	} {
		run := func(*cobra.Command, []string) error { return nil }
		root := &cobra.Command{Use: "elasticjob", SilenceErrors: true, SilenceUsage: true, RunE: run}
		of := &cobra.Command{Use: "of", RunE: run}
		of.AddCommand(&cobra.Command{Use: "list [NAME]", Args: cobra.MaximumNArgs(1), RunE: run})
		root.AddCommand(
			&cobra.Command{Use: "get JOB", Args: cobra.ExactArgs(1), RunE: run},
			&cobra.Command{Use: "set JOB KEY=VALUE…", Args: cobra.MinimumNArgs(2), RunE: run},
			of,
			&cobra.Command{Use: "own WHICH", RunE: run, Args: func(*cobra.Command, []string) error { return errors.New("one of a and b is allowed") }},
		)
		usage.Explain(root)
		root.SetArgs(tc.args)
		got := ""
		if err := root.Execute(); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%q: %q, want %q", tc.args, got, tc.want)
		}
	}
}
