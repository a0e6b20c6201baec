package allow

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/elasticjob-go/elasticjob/internal/bounded"
	"github.com/elasticjob-go/elasticjob/job/property"
)

// Lookup looks up what [property.FromProcess] does, as far as the list has it.
func (l *List) Lookup() property.Lookup {
	all := property.FromProcess()
	if l == nil {
		return all
	}
	return func(name string) (string, bool, error) {
		kind, what, _ := strings.Cut(name, ":")
		switch kind {
		case "env":
			if !l.HasVariable(what) {
				return "", true, Refused("references.variables")
			}
			return all(name)
		case "file":
			text, err := l.file(what)
			return text, true, err
		}
		return "", false, nil
	}
}

// HasVariable reports whether a variable of the worker's environment may be used.
func (l *List) HasVariable(name string) bool {
	return l == nil || matches(l.of(func(r Rule) []string { return r.Variables }), name)
}

// file reads a file of a folder that is listed. Of any other file it does not tell whether it is there.
func (l *List) file(path string) (string, error) {
	if path != filepath.Clean(path) {
		return "", Refused("references.folders")
	}
	for _, folder := range l.of(func(r Rule) []string { return r.Folders }) {
		below, is := strings.CutPrefix(path, strings.TrimSuffix(folder, string(filepath.Separator))+string(filepath.Separator))
		if !is {
			continue
		}
		text, err := readBelow(folder, below)
		return strings.TrimRight(string(text), "\r\n"), err
	}
	return "", Refused("references.folders")
}

// maxFile bounds a file that a reference names, as [property.FromProcess] does.
const maxFile = 64 << 10

// readBelow reads a file without leaving the folder, whatever links there are.
func readBelow(folder, path string) (text []byte, err error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	// To open a named pipe would wait for a writer otherwise, perhaps for ever.
	file, err := root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	text, _, err = bounded.Opened(file, maxFile)
	return text, err
}
