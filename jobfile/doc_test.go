package jobfile_test

import (
	"os"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/jobfile"
)

// example is the file in the comment of the package.
func example(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(source), "// A file:\n//\n")
	text, _, found := strings.Cut(text, "//\n// Jobs have")
	if !found {
		t.Fatal("there is no file in the comment")
	}
	return strings.ReplaceAll(text, "//\t", "")
}

// The file in the comment is right, with each of its profiles.
func TestExample(t *testing.T) {
	for _, profiles := range [][]string{{}, {"test"}} {
		o := options(nil)
		o.Profiles = profiles
		f, err := jobfile.Read(o, write(t, example(t))...)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(f.Jobs()); n != 3-len(profiles) {
			t.Errorf("%d jobs with %q", n, profiles)
		}
	}
}

// So is the one in the README.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "## A file instead of code")
	_, text, _ := strings.Cut(section, "```yaml\n")
	text, _, _ = strings.Cut(text, "```\n")
	for _, profiles := range [][]string{{}, {"test"}} {
		o := options(map[string]string{})
		o.Profiles = profiles
		_, err := jobfile.Read(o, write(t, text)...)
		if len(profiles) > 0 && err != nil || len(profiles) == 0 && (err == nil || !strings.Contains(err.Error(), "/run/secrets/etcd")) {
			t.Errorf("with %q: %v", profiles, err)
		}
		slip := strings.Replace(text, "shardingTotalCount", "shardingTotalCont", 1)
		if _, err := jobfile.Read(o, write(t, slip)...); err == nil || !strings.Contains(err.Error(), ".yaml:6:72: jobs.settle.shardingTotalCont: unknown key; did you mean shardingTotalCount?") {
			t.Errorf("the slip: %v", err)
		}
	}
}
