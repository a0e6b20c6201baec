package install

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/elasticjob-go/elasticjob"

// command runs a program in a folder, and returns what it printed.
func command(t *testing.T, dir string, env []string, name string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// must is command where an error ends the test.
func must(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	out, err := command(t, dir, env, name, args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return out
}

// author is who commits in the repositories of the test, whatever the machine's configuration of git says.
var author = []string{
	"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
	"GIT_AUTHOR_NAME=test", "GIT_AUTHOR_EMAIL=test@example.com", "GIT_COMMITTER_NAME=test", "GIT_COMMITTER_EMAIL=test@example.com",
}

// snapshot commits the working tree, with what is not committed yet, to a repository of its own, and returns its folder
// and the hash of the tree.
func snapshot(t *testing.T) (repository, tree string) {
	t.Helper()
	_ = os.Getenv("TREE") // by which go test knows whether a result that it has cached is of this tree
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	repository = filepath.Join(t.TempDir(), "elasticjob")
	must(t, root, author, "git", "init", "-q", "-b", "main", repository)
	index := append([]string{"GIT_DIR=" + filepath.Join(repository, ".git"), "GIT_WORK_TREE=" + root}, author...)
	must(t, root, index, "git", "add", "-A")
	must(t, root, index, "git", "commit", "-q", "-m", "the tree under test")
	must(t, repository, author, "git", "reset", "-q", "--hard")
	return repository, must(t, repository, author, "git", "rev-parse", "HEAD^{tree}")
}

// release makes a release of a repository, after an earlier one. A release tags every released module at one commit; what is
// wrong is refused, and leaves no tag.
func release(t *testing.T, repository string) {
	t.Helper()
	release := func(version string) (string, error) {
		return command(t, repository, author, "scripts/release", version)
	}
	refused := func(version, because string) {
		t.Helper()
		before := must(t, repository, author, "git", "tag")
		if out, err := release(version); err == nil || !strings.Contains(out, because) {
			t.Errorf("release %s: %v\n%s\nwant %q", version, err, out, because)
		}
		if after := must(t, repository, author, "git", "tag"); after != before {
			t.Errorf("release %s was refused, and left the tags %q", version, after)
		}
	}
	refused("0.1.0", "want one argument, a version such as v0.2.0")
	refused("v9.9.9", "CHANGELOG.md has no section ## [9.9.9]")
	if err := os.WriteFile(filepath.Join(repository, "stray.go"), []byte("package elasticjob\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(version, "stray.go")
	if err := os.Remove(filepath.Join(repository, "stray.go")); err != nil {
		t.Fatal(err)
	}
	// A release that cannot be committed, or has a tag that cannot be made, changes nothing.
	head := must(t, repository, author, "git", "rev-parse", "HEAD")
	for hook, text := range map[string]string{
		"pre-commit":            "echo not now; exit 1",
		"reference-transaction": "if [ $1 = prepared ] && grep -q refs/tags/trace/sqltrace; then echo not now; exit 1; fi",
	} {
		file := filepath.Join(repository, ".git/hooks", hook)
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		refused(version, "not now")
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if now := must(t, repository, author, "git", "rev-parse", "HEAD"); now != head {
			t.Errorf("a release that failed by %s has left a commit", hook)
		}
	}
	// The versions of the siblings are set, and committed, if they are not those of the release.
	for _, version := range []string{version + "-rc.1", version} {
		out, err := release(version)
		if err != nil {
			t.Fatalf("release %s: %v\n%s", version, err, out)
		}
		if mod := must(t, repository, author, "git", "show", "console/"+version+":console/go.mod"); !strings.Contains(mod, module+" "+version) {
			t.Errorf("console at %s requires the root at another version:\n%s", version, mod)
		}
		chart := must(t, repository, author, "git", "show", version+":deploy/helm/elasticjob/Chart.yaml")
		for _, key := range []string{"version", "appVersion"} {
			if want := "\n" + key + ": " + strings.TrimPrefix(version, "v") + "\n"; !strings.Contains(chart, want) {
				t.Errorf("Chart.yaml at %s has no line %q:\n%s", version, want, chart)
			}
		}
		// GitHub makes no event of a push with more than three tags.
		if !strings.HasSuffix(out, "\ngit push origin "+version) {
			t.Errorf("the last push is not that of the root's tag alone:\n%s", out)
		}
	}
	refused(version, "the tag "+version+" exists")
	head = must(t, repository, author, "git", "rev-parse", "HEAD")
	for _, name := range released(t, repository, version) {
		if at := must(t, repository, author, "git", "rev-parse", name+"^{commit}"); at != head {
			t.Errorf("%s is at %s, the release at %s", name, at, head)
		}
	}
	// The notes of the release stand on a page that is in no folder.
	notes := must(t, repository, author, "scripts/notes", version)
	if !strings.Contains(notes, "/blob/"+version+"/docs/") || strings.Contains(notes, "](docs/") {
		t.Errorf("the notes of the release:\n%s", notes)
	}
	if status := must(t, repository, author, "git", "status", "--porcelain"); status != "" {
		t.Errorf("the release left changes:\n%s", status)
	}
}

// released returns the tags of a version.
func released(t *testing.T, repository, version string) []string {
	t.Helper()
	var tags []string
	for name := range strings.FieldsSeq(must(t, repository, author, "git", "tag")) {
		if name == version || strings.HasSuffix(name, "/"+version) {
			tags = append(tags, name)
		}
	}
	if len(tags) < 8 {
		t.Fatalf("only %q are tagged", tags)
	}
	return tags
}
