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
		{[]string{"get", "a", "b"}, `1 too many arguments: elasticjob get JOB [flags]`},
		{[]string{"set", "a"}, "KEY=VALUE is missing: elasticjob set JOB KEY=VALUE… [flags]"},
		{[]string{"set", "a", "b", "c"}, ""},
		{[]string{"of", "list", "a", "b"}, `1 too many arguments: elasticjob of list [NAME] [flags]`},
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

// Flags that are missing or exclude each other are told with an example.
func TestExplainFlags(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"move", "a"}, "--from and --to are missing, as in: elasticjob move JOB [flags]"},
		{[]string{"move", "a", "--to", "x"}, "--from is missing, as in: elasticjob move JOB [flags]"},
		{[]string{"move", "a", "--to", "x", "--from", "y"}, ""},
		{[]string{"move"}, "JOB is missing: elasticjob move JOB [flags]\n--from and --to are missing, as in: elasticjob move JOB [flags]"},
		{[]string{"leave"}, "no job\none of --all, --one and --two is missing, as in: elasticjob leave a --one"},
		{[]string{"leave", "a"}, "one of --all, --one and --two is missing, as in: elasticjob leave a --one"},
		{[]string{"leave", "a", "--all", "--one"}, "--all and --one: allowed is one of them, as in: elasticjob leave a --one"},
		{[]string{"leave", "a", "--one", "--two"}, ""},
		{[]string{"serve", "--key", "x"}, "--cert and --key: all of them are needed, or none, as in: elasticjob serve [flags]"},
		{[]string{"serve"}, ""},
		{[]string{"serve", "--cert", "", "--key", "k"}, "--cert has an empty value; allowed is one that is not, or no --cert, as in: elasticjob serve [flags]"},
		{[]string{"serve", "--label", ""}, "--label has an empty value; allowed is one that is not, or no --label, as in: elasticjob serve [flags]"},
		{[]string{"serve", "--label", "a,"}, "--label has an empty value; allowed is one that is not, or no --label, as in: elasticjob serve [flags]"},
	} {
		run := func(*cobra.Command, []string) error { return nil }
		root := &cobra.Command{Use: "elasticjob", SilenceErrors: true, SilenceUsage: true, RunE: run}
		move := &cobra.Command{Use: "move JOB", Args: cobra.ExactArgs(1), RunE: run}
		move.Flags().String("from", "", "")
		move.Flags().String("to", "", "")
		leave := &cobra.Command{Use: "leave JOB…", Example: "  elasticjob leave a --one\n  elasticjob leave b --two", RunE: run, Args: cobra.ArbitraryArgs, PreRunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no job")
			}
			return nil
		}}
		for _, flag := range []string{"all", "one", "two"} {
			leave.Flags().Bool(flag, false, "")
		}
		leave.MarkFlagsOneRequired("all", "one", "two")
		leave.MarkFlagsMutuallyExclusive("all", "one")
		leave.MarkFlagsMutuallyExclusive("all", "two")
		serve := &cobra.Command{Use: "serve", RunE: run}
		serve.Flags().String("cert", "", "")
		serve.Flags().String("key", "", "")
		serve.Flags().StringSlice("label", nil, "")
		serve.MarkFlagsRequiredTogether("cert", "key")
		if err := errors.Join(move.MarkFlagRequired("from"), move.MarkFlagRequired("to")); err != nil {
			t.Fatal(err)
		}
		root.AddCommand(move, leave, serve)
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
