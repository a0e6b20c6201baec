package connection

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/elasticjob-go/elasticjob/internal/bounded"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
)

// ErrExposed: others may write the file, or read passwords that stand in it in clear text.
var ErrExposed = errors.New("others may use what is in it")

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
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	if err := decoder.Decode(&d); err != nil && !errors.Is(err, io.EOF) {
		return document{}, withoutValues(err)
	}
	if decoder.Decode(&yaml.Node{}) != io.EOF {
		return document{}, errors.New("there is a second document in it")
	}
	if d.Namespaces == nil {
		d.Namespaces = map[string]entry[Namespace]{}
	}
	if d.Databases == nil {
		d.Databases = map[string]entry[Database]{}
	}
	return d, d.check()
}

// withoutValues keeps what yaml says about lines and keys, and leaves out the values that it quotes. One
// may have a backquote in it: so all goes that is between the first one and the last. Names of types of ours
// go, too.
func withoutValues(err error) error {
	text := regexp.MustCompile("(?s)`.*`").ReplaceAllString(brief.Error(err).Error(), masked)
	return errors.New(regexp.MustCompile(`( in type|into) connection\.\S*`).ReplaceAllString(text, ""))
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

// save writes a file that its owner alone may read. Nobody reads half of it.
func save(path string, content []byte) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // a link stays one
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), ".connections-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = temporary.Write(content)
	err = errors.Join(err, temporary.Sync(), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	return nil
}

// lock makes other processes wait until unlock is called. It waits as long as ctx allows.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	const pause = 50 * time.Millisecond
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	unlock = func() { _ = file.Close() } // that ends the lock, whatever it returns
	for {
		ok, err := tryLock(file)
		if err == nil && ok {
			return unlock, nil
		}
		if err == nil && !sleep.For(ctx, pause) {
			err = fmt.Errorf("somebody else changes it: %w", context.Cause(ctx))
		}
		if err != nil {
			unlock()
			return nil, err
		}
	}
}
