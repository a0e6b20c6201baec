package doctor_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/ops/doctor"
)

// The package comment has the table of all kinds, and all constants are in it.
func TestTableOfKinds(t *testing.T) {
	comment, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, k := range doctor.Kinds() {
		fmt.Fprintf(&want, "//\t%-24s%-10s%s\n", k.Kind, k.Worst, k.Meaning)
	}
	if !strings.Contains(string(comment), want.String()) {
		t.Errorf("doc.go has another table; it should be\n%s", &want)
	}
	code, err := os.ReadFile("kind.go")
	if err != nil {
		t.Fatal(err)
	}
	constants := 0
	for line := range strings.Lines(string(code)) {
		name, _, isConstant := strings.Cut(strings.TrimSpace(line), " Kind = ")
		if !isConstant {
			if _, value, ok := strings.Cut(line, "Kind = "); !ok || value == "" {
				continue
			}
		}
		if name = strings.Fields(strings.TrimSpace(line))[0]; name == "" {
			continue
		}
		constants++
	}
	if constants != len(doctor.Kinds()) {
		t.Errorf("%d constants, and %d kinds in the table", constants, len(doctor.Kinds()))
	}
}
