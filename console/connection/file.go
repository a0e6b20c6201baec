package connection

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"runtime"
	"slices"

	"github.com/elasticjob-go/elasticjob/internal/bounded"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
)

// document is what a file has.
type document struct {
	Namespaces map[string]entry[Namespace] `yaml:"namespaces,omitempty"`
	Databases  map[string]entry[Database]  `yaml:"databases,omitempty"`
}

// entry is an entry of the file. Item has no name, no password and no version.
type entry[T item[T]] struct {
	Item   T      `yaml:",inline"`
	Stored stored `yaml:"password,omitempty"`
}

// shown returns the entry as everybody may see it who may see entries.
func (e entry[T]) shown(name string) T {
	return e.Item.with(name, Plain(e.Stored.String()), false, versionOf(e))
}

// maxFile bounds the file.
const maxFile = 1 << 20

// load reads a file. ok is false if there is none.
func load(path string) (content []byte, ok bool, err error) {
	content, info, err := bounded.File(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	return content, true, exposed(info.Mode().Perm(), content)
}

// exposed returns ErrExposed if others may write a file, or read a password in it. A file that cannot
// be understood is not exposed: parse says what is wrong with it.
func exposed(mode fs.FileMode, content []byte) error {
	if runtime.GOOS == "windows" || mode&0o077 == 0 {
		return nil
	}
	d, err := parse(content)
	if mode&0o022 != 0 || err == nil && d.hasPlain() {
		return fmt.Errorf("mode %v: %w: chmod 600 it, and think about changing the passwords", mode, ErrExposed)
	}
	return nil
}

func (d document) hasPlain() bool {
	for _, e := range d.Namespaces {
		if e.Stored.isPlain() {
			return true
		}
	}
	for _, e := range d.Databases {
		if e.Stored.isPlain() {
			return true
		}
	}
	return false
}

// parse reads a document. A key that nobody knows is an error.
func parse(content []byte) (document, error) {
	d := document{}
	if err := yamldoc.Strict(content, &d); err != nil {
		return document{}, err
	}
	if d.Namespaces == nil {
		d.Namespaces = map[string]entry[Namespace]{}
	}
	if d.Databases == nil {
		d.Databases = map[string]entry[Database]{}
	}
	return d, d.check()
}

// check says what is wrong with a document by itself.
func (d document) check() error {
	return cmp.Or(checkAll("namespaces", d.Namespaces), checkAll("databases", d.Databases))
}

func checkAll[T item[T]](what string, entries map[string]entry[T]) error {
	if len(entries) > MaxEntries {
		return fmt.Errorf("%w: there are %d %s", ErrMany, len(entries), what)
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		e := entries[name]
		if err := e.Item.with(name, Plain(string(e.Stored)), false, "").check(); err != nil {
			return fmt.Errorf("%s: %s: %w", what, brief.Quote(name), err)
		}
	}
	return nil
}

const heading = "# Namespaces and databases of elasticjob's console, which writes this file when one is changed there.\n# Comments do not last. Passwords may be references: ${env:NAME}, ${file:/path}.\n"

// format returns what parse reads.
func (d document) format() ([]byte, error) {
	document, err := yamldoc.Marshal(d)
	if err != nil {
		return nil, err
	}
	text := append([]byte(heading), document...)
	if len(text) > maxFile {
		return nil, fmt.Errorf("allowed are %d bytes, and it would have %d", maxFile, len(text))
	}
	return text, nil
}
