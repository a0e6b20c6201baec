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
