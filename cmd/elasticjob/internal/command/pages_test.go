package command

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/consolefile"
	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/docs"
	"github.com/elasticjob-go/elasticjob/internal/mdpage"
)

func pagesOf(t *testing.T) []mdpage.Page {
	t.Helper()
	pages, err := mdpage.Embedded("../../../..", docs.Pages)
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// Commands that pages show without running them are understood, with their flags and arguments.
func TestCommandsInPages(t *testing.T) {
	for _, page := range pagesOf(t) {
		for _, block := range page.Blocks("sh") {
			text := strings.ReplaceAll(block.Text, "\\\n", " ")
			for line := range strings.Lines(text) {
				if !strings.HasPrefix(line, "elasticjob ") {
					continue
				}
				words := shellWords(line)[1:]
				where := page.At(block.Line)
				root := newRoot()
				root.InitDefaultCompletionCmd(words...)
				cmd, rest, err := root.Find(words)
				if err != nil || !cmd.HasParent() {
					t.Errorf("%s: there is no command: %s", where, line)
					continue
				}
				if err := cmd.ParseFlags(rest); err != nil {
					t.Errorf("%s: %s: %v", where, strings.TrimSpace(line), err)
					continue
				}
				if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
					t.Errorf("%s: %s: %v", where, strings.TrimSpace(line), err)
				}
			}
		}
		for _, span := range page.Code() {
			if words := shellWords(span.Text); len(words) > 1 && words[0] == "elasticjob" && words[1] != "COMMAND" && words[1] != "completion" && !strings.Contains(span.Text, "…") {
				checkCommandOrFamily(t, page.At(span.Line), words[1:])
			}
		}
	}
}

// checkCommandOrFamily is checkCommand, for texts that may name a family of commands.
func checkCommandOrFamily(t *testing.T, where string, words []string) {
	t.Helper()
	if cmd, rest, err := newRoot().Find(words); err == nil && cmd.HasParent() && cmd.HasSubCommands() {
		for _, word := range rest {
			if long, ok := strings.CutPrefix(word, "--"); ok && cmd.Flag(strings.SplitN(long, "=", 2)[0]) == nil {
				t.Errorf("%s: %s has no flag %s", where, cmd.CommandPath(), word)
			}
		}
		return
	}
	checkCommand(t, where, words)
}

// shellWords splits the first command of a line as a shell does, as far as pages need that.
func shellWords(line string) (words []string) {
	for _, match := range regexp.MustCompile(`(?:[^\s'"|;&><#]|'[^']*'|"[^"]*"|#\w)+|[|;&><#]`).FindAllString(line, -1) {
		if strings.ContainsAny(match[:1], "|;&><#") {
			break
		}
		words = append(words, strings.NewReplacer("'", "", `"`, "").Replace(match))
	}
	return words
}

// Files of the console that pages show are understood.
func TestConsoleFilesOfPages(t *testing.T) {
	found := 0
	for _, page := range pagesOf(t) {
		documents, err := page.Documents()
		if err != nil {
			t.Error(err)
		}
		for _, d := range documents {
			switch {
			case d.Has("kind", "services"): // Kubernetes, Docker Compose
			case d.Has("hosts", "origins", "proxy", "oidc", "sessions", "limits", "connections"):
				found++
				file := filepath.Join(t.TempDir(), "console.yaml")
				if err := os.WriteFile(file, []byte(withReferences(t, d.Text)), 0o600); err != nil {
					t.Fatal(err)
				}
				f, err := consolefile.Read(file)
				if err != nil {
					t.Errorf("%s: %v", page.At(d.Line), err)
					continue
				}
				if _, err := f.TrustedProxy(); err != nil {
					t.Errorf("%s: %v", page.At(d.Line), err)
				}
				if d.Has("oidc") {
					if _, err := f.OIDC.Open(&access.Control{}, nil); err != nil {
						t.Errorf("%s: %v", page.At(d.Line), err)
					}
				}
			case d.Has("namespaces", "databases"):
				found++
				file := filepath.Join(t.TempDir(), "connections.yaml")
				if err := os.WriteFile(file, []byte(withReferences(t, d.Text)), 0o600); err != nil {
					t.Fatal(err)
				}
				nowhere := errors.New("this test connects to nothing")
				book, err := connection.Open(connection.Options{
					File:        file,
					Dial:        func(context.Context, connection.Namespace) (coord.Registry, error) { return nil, nowhere },
					OpenHistory: func(connection.Database) (connection.History, error) { return nil, nowhere },
				})
				if err != nil {
					t.Errorf("%s: %v", page.At(d.Line), err)
					continue
				}
				if err := book.Close(t.Context()); err != nil {
					t.Error(err)
				}
			}
		}
	}
	if found == 0 {
		t.Error("no page shows a file of the console: are they written in another way?")
	}
}

// withReferences lets the references of a file lead to secrets.
func withReferences(t *testing.T, document string) string {
	t.Helper()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, match := range regexp.MustCompile(`\$\{env:(\w+)\}`).FindAllStringSubmatch(document, -1) {
		t.Setenv(match[1], "hunter2")
	}
	return regexp.MustCompile(`\$\{file:[^}]*\}`).ReplaceAllString(document, "${file:"+secret+"}")
}
