package jobtest_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Tests that the package comment names are in copy_test.go.
func TestNamedTests(t *testing.T) {
	read := func(file string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	copied := read("copy_test.go")
	named := regexp.MustCompile(`\((Test\w+)\)`).FindAllStringSubmatch(strings.ReplaceAll(read("doc.go"), "\n// ", " "), -1)
	if len(named) < 5 {
		t.Errorf("doc.go names %d tests", len(named))
	}
	for _, name := range named {
		if !strings.Contains(copied, "\nfunc "+name[1]+"(") {
			t.Errorf("doc.go names %s, which is not in copy_test.go", name[1])
		}
	}
}
