package deploy

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// What is tested, what is released and the image come from one version of Go, which is named to its patch: another one
// makes other bytes, and older patches have defects that are known.
func TestVersionOfGo(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(repository, ".github/workflows/*.yml"))
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`\bgolang:(\S+?)(?:-bookworm)?\s|\bgo-version(?:-file)?: ([^\s,}]+)`)
	versions := map[string][]string{}
	for _, file := range append(files, filepath.Join(repository, "Dockerfile")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			versions[m[1]+m[2]] = append(versions[m[1]+m[2]], file)
		}
	}
	for version := range versions {
		if len(versions) != 1 || !regexp.MustCompile(`^1\.\d+\.\d+$`).MatchString(version) {
			t.Fatalf("want one version, such as 1.26.8, in all of them: %v", versions)
		}
	}
	if len(versions) == 0 {
		t.Error("no file names a version")
	}
}
