package jobfile

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/elasticjob-go/elasticjob/job/property"
)

// expander puts the values of references in their place.
type expander struct {
	env    func(name string) (string, bool)
	reader *reader
}

// expand returns a value with its references expanded, but for props. There types look
// references up when they run, because what is expanded comes into the registry.
func (x expander) expand(v *value, path []string) *value {
	if v == nil || len(path) == 3 && path[0] == keyJobs && path[2] == keyProps {
		return v
	}
	expanded := *v
	switch v.kind {
	case scalar:
		if !v.hasReference() {
			return v
		}
		text, err := property.Expand(v.text, x.lookup(v.at.file))
		if err != nil {
			x.reader.fault(v.at, strings.Join(path, "."), "%w", err)
			return &value{at: v.at}
		}
		expanded.text, expanded.quoted = text, false
	case list:
		expanded.list = make([]*value, len(v.list))
		for i, child := range v.list {
			expanded.list[i] = x.expand(child, path)
		}
	case mapping:
		expanded.entries = make([]entry, len(v.entries))
		for i, e := range v.entries {
			e.value = x.expand(e.value, append(path[:len(path):len(path)], e.key))
			expanded.entries[i] = e
		}
	}
	return &expanded
}

// lookup knows ${env:NAME}, ${env:NAME:-default} and ${file:path}. A relative path begins in
// the folder of the file that has it.
func (x expander) lookup(file string) property.Lookup {
	fromProcess := property.FromProcess()
	return func(name string) (string, bool, error) {
		kind, what, _ := strings.Cut(name, ":")
		switch kind {
		case "env":
			variable, otherwise, hasDefault := strings.Cut(what, ":-")
			value, isSet := x.env(variable)
			switch {
			case isSet && (value != "" || !hasDefault):
				return value, true, nil
			case hasDefault:
				return otherwise, true, nil
			}
			return "", true, errors.New("this process has no such variable; ${env:NAME:-text} has a default")
		case "file":
			return fromProcess("file:" + beside(file, what))
		}
		return "", false, nil
	}
}

// beside returns a path as seen from a file that names it.
func beside(file, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(file), path)
}
