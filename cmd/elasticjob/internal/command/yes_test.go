package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
)

// Every command that has --yes ends before it plans anything, and before it connects, if that names another namespace.
func TestYesOfAnotherNamespace(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	jobs := filepath.Join(folder, "jobs.yaml")
	for file, text := range map[string]string{
		jobs:                                   "jobs:\n  a: {type: HTTP, shardingTotalCount: 1, props: {http.uri: \"https://x/\", http.method: GET}}\n",
		filepath.Join(folder, "holidays.yaml"): "timeZone: UTC\ndates: [2026-12-25]\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	users := "--former ops:" + strings.Repeat("A", 27) + "= --new new:" + strings.Repeat("B", 27) + "="
	// What stands behind a command; each is tried as it is, and several jobs are chosen with --all where that is possible.
	behind := map[string][]string{
		"acl add": {users}, "acl remove": {users},
		"apply":        {"-f " + jobs, "-f " + jobs + " --dry-run"},
		"backfill":     {"a --from 2026-01-01T00:00:00Z --to 2026-01-02T00:00:00Z", "--all --from 2026-01-01T00:00:00Z --to 2026-01-02T00:00:00Z"},
		"calendar put": {"holidays -f " + filepath.Join(folder, "holidays.yaml")}, "calendar remove": {"holidays"},
		"cancel": {"a 000000000001-x"}, "kill": {"a"},
		"clear failovers": {"a"}, "clear misfires": {"a"}, "clear servers": {"a"}, "clear stale": {"a"},
		"create": {"a --set shardingTotalCount=1"}, "update": {"a --set shardingTotalCount=1"}, "edit": {"a"},
		"implement": {"a --from x --to y"},
		"disable":   {"a", "--all"}, "enable": {"a", "--all"}, "pause": {"a", "--all", "--label batch"}, "resume": {"a", "--all"},
		"remove": {"a", "--all"}, "reshard": {"a", "--all"}, "shutdown": {"a --all", "a* --all"},
		"trigger": {"a", "--all"}, "retry": {"a", "--all"},
		"pin": {"a 0 --label gpu"}, "unpin": {"a 0"}, "readmit": {"a"},
		"servers disable": {"10.0.0.1"}, "servers enable": {"10.0.0.1"}, "servers remove": {"10.0.0.1"}, "servers shutdown": {"10.0.0.1"},
		"migrate":             nil, // it connects to two stores first: testdata/migrate.txtar
		"console user remove": nil, // it changes no namespace
	}
	eachCommand(newRoot(), func(cmd *cobra.Command) {
		name := strings.TrimPrefix(cmd.CommandPath(), "elasticjob ")
		all, isKnown := behind[name]
		if cmd.Flags().Lookup("yes") == nil {
			if isKnown {
				t.Errorf("%s has no --yes", name)
			}
			return
		}
		if !isKnown {
			t.Errorf("%s has --yes: give it a row", name)
		}
		for _, words := range all {
			var out, errs strings.Builder
			args := append(strings.Fields(name+" "+words), "--store", "zookeeper://127.0.0.1:1/prod", "--yes=staging", "--timeout", "1s")
			code := Run(t.Context(), Environment{
				In: strings.NewReader(""), Out: &out, Err: &errs, Lookup: func(string) (string, bool) { return "", false },
			}, args...)
			if code != exit.Usage || !strings.Contains(errs.String(), "namespace prod: --yes=staging: that is another namespace; allowed is --yes=prod") || out.Len() > 0 {
				t.Errorf("%v: %d, %s%s", args, code, &out, &errs)
			}
		}
	})
}

func eachCommand(cmd *cobra.Command, do func(*cobra.Command)) {
	do(cmd)
	for _, below := range cmd.Commands() {
		eachCommand(below, do)
	}
}
