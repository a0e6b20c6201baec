package jobtree

import (
	"os"
	"strings"
	"testing"
)

// The page has all nodes by their names.
func TestPageOfTheTree(t *testing.T) {
	const page = "../../docs/understand/tree.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	all := kinds()
	for _, k := range all {
		isParent := strings.Contains(k.pattern, "{unknown}")
		for _, other := range all {
			isParent = isParent || strings.HasPrefix(other.pattern, k.pattern+"/") && !strings.HasSuffix(k.pattern, "}")
		}
		name := strings.TrimPrefix(strings.TrimPrefix(k.pattern, "{job}/"), "~elasticjob/")
		if !isParent && !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("%s does not name the node %s: %s", page, name, k.meaning)
		}
	}
}
