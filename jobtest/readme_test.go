package jobtest_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// What README.md shows of tests stands in copy_test.go, and so it runs. Tests that the package
// comment names are there.
func TestWhatIsShownRuns(t *testing.T) {
	read := func(file string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	copied := read("copy_test.go")
	_, testing, _ := strings.Cut(read("../README.md"), "\n## Testing jobs\n")
	testing, _, _ = strings.Cut(testing, "\n## ")
	blocks := strings.Split(testing, "```go\n")[1:]
	if len(blocks) == 0 {
		t.Fatal("README.md shows no test")
	}
	for _, block := range blocks {
		code, _, _ := strings.Cut(block, "```")
		if !strings.Contains(copied, code) {
			t.Errorf("README.md shows what is not in copy_test.go:\n%s", code)
		}
	}
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
