package integration_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every test that the track record in integration/README.md names exists, in the folder that
// stands before it.
func TestTrackRecordReferences(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, group := range regexp.MustCompile("`([a-z/]+)` (Test[^;|]*)").FindAllStringSubmatch(string(text), -1) {
		folder := group[1]
		code := testsIn(t, filepath.Join("..", folder))
		for _, name := range regexp.MustCompile(`Test\w+`).FindAllString(group[2], -1) {
			named++
			if !strings.Contains(code, "\nfunc "+name+"(") {
				t.Errorf("integration/README.md refers to %s, which is no test in %s", name, folder)
			}
		}
	}
	if named < 50 {
		t.Errorf("only %d tests were found in integration/README.md", named)
	}
}

// testsIn returns the code of all tests in a folder.
func testsIn(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(text)
	}
	return code.String()
}
