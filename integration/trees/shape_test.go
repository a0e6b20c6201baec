package trees_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// named are nodes whose children have names that vary.
var named = []string{
	"servers", "instances", "sessions", "faults", "trigger", "requests",
	"~elasticjob/nodes", "~elasticjob/calendars", "~elasticjob/removed", "~elasticjob/applied", "~elasticjob/audit",
}

// shape returns the kinds of nodes of a tree, and the keys of their documents: a line each, ascending.
func shape(tr tree) []string {
	var lines []string
	for _, n := range tr.nodes {
		kind := kindOf(n.Path)
		if n.Ephemeral() {
			kind += " (ephemeral)"
		}
		for _, content := range contentsOf(n.Value) {
			lines = append(lines, strings.TrimSpace(kind+" "+content))
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// kindOf returns a path with braces in place of names.
func kindOf(path string) string {
	names := strings.Split(path, "/")
	if names[0] != "~elasticjob" {
		names[0] = "{job}"
	}
	for i := 1; i < len(names); i++ {
		parent := strings.TrimPrefix(strings.Join(names[:i], "/"), "{job}/")
		switch _, err := strconv.Atoi(names[i]); {
		case err == nil:
			names[i] = "{item}"
		case slices.Contains(named, parent):
			names[i] = "{name}"
		default:
			if _, err := time.Parse(time.RFC3339Nano, names[i]); err == nil {
				names[i] = "{tick}"
			}
		}
	}
	return strings.Join(names, "/")
}

// contentsOf returns the keys of a document, or what else a value is.
func contentsOf(value []byte) []string {
	var document any
	if err := yaml.Unmarshal(value, &document); err == nil {
		if keys := keysOf("", document); len(keys) > 0 {
			return keys
		}
	}
	switch {
	case len(value) == 0:
		return []string{"empty"}
	default:
		return []string{fmt.Sprintf("text of words: %d", len(strings.Fields(string(value))))}
	}
}

func keysOf(path string, value any) (keys []string) {
	switch value := value.(type) {
	case map[string]any:
		for key, v := range value {
			keys = append(keys, path+key)
			keys = append(keys, keysOf(path+key+".", v)...)
		}
	case []any:
		for _, v := range value {
			keys = append(keys, keysOf(path, v)...)
		}
	}
	return keys
}
