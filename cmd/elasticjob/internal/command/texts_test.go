package command

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newRoot() *cobra.Command {
	return (&cli{env: Environment{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Lookup: os.LookupEnv}}).root()
}

// Whatever says "elasticjob …" to an operator says a command that there is, with flags that it has.
func TestTextsNameCommands(t *testing.T) {
	files, err := filepath.Glob("../../../../ops/*/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	found := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile("[\"`]elasticjob ([^\"`]+)").FindAllStringSubmatch(string(source), -1) {
			found++
			checkCommand(t, filepath.Base(file), strings.Fields(match[1]))
		}
	}
	if found < 5 {
		t.Errorf("only %d texts were found: are they written in another way?", found)
	}
}

func checkCommand(t *testing.T, where string, words []string) {
	cmd, rest, err := newRoot().Find(words)
	if err != nil || !cmd.HasParent() || cmd.HasSubCommands() && len(strings.Fields(cmd.Use)) == 1 {
		t.Errorf("%s: there is no command: elasticjob %s", where, strings.Join(words, " "))
		return
	}
	for _, word := range rest {
		long, isLong := strings.CutPrefix(word, "--")
		short, isShort := strings.CutPrefix(word, "-")
		switch {
		case isLong && cmd.Flag(long) == nil, !isLong && isShort && short != "" && cmd.Flags().ShorthandLookup(short) == nil:
			t.Errorf("%s: %s has no flag %s", where, cmd.CommandPath(), word)
		}
	}
}

// Every command and every flag says in one line what it does, in the same style.
func TestHelp(t *testing.T) {
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: %q", cmd.CommandPath(), cmd.Short)
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" || strings.HasSuffix(f.Usage, ".") {
				t.Errorf("%s --%s: %q", cmd.CommandPath(), f.Name, f.Usage)
			}
		})
		for line := range strings.Lines(cmd.Long) {
			if len([]rune(line)) > 140 {
				t.Errorf("%s: a line of %d characters: %s", cmd.CommandPath(), len(line), line)
			}
		}
		changes, asks := cmd.Flags().Lookup("dry-run"), cmd.Flags().Lookup("yes")
		if asks != nil && changes == nil {
			t.Errorf("%s asks, and has no --dry-run", cmd.CommandPath())
		}
		for _, child := range cmd.Commands() {
			visit(child)
		}
	}
	visit(newRoot())
}
