package oteljob

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The table in the package comment has all attributes that the source names.
func TestTableOfAttributes(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	var named, listed []string
	for _, match := range regexp.MustCompile(`attribute\.Key\("([^"]+)"\)`).FindAllStringSubmatch(read("attributes.go"), -1) {
		named = append(named, match[1])
	}
	_, table, _ := strings.Cut(read("doc.go"), "# Attributes")
	table, _, _ = strings.Cut(table, "# Metrics")
	for _, match := range regexp.MustCompile(`(?m)^//\t(elasticjob\.\S+)`).FindAllStringSubmatch(table, -1) {
		listed = append(listed, match[1])
	}
	slices.Sort(named)
	slices.Sort(listed)
	if !slices.Equal(named, listed) {
		t.Errorf("the source names\n%q, the table\n%q", named, listed)
	}
}
