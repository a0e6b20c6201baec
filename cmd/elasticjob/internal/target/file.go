package target

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/elasticjob-go/elasticjob/internal/bounded"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/lockedfile"
	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
)

// File is the contexts file: stores with names.
//
//	current: prod
//	contexts:
//	  prod:
//	    store: etcd+tls://etcd-0:2379,etcd-1:2379/shop/jobs
//	    user: operator
//	    password: ${file:/run/secrets/etcd}
//	    cacert: /etc/etcd/ca.pem
//	    history: postgres:${env:HISTORY_DSN}
//	    production: true
//
// A relative path begins in the folder of the file.
type File struct {
	Current  string              `yaml:"current,omitempty"`
	Contexts map[string]Settings `yaml:"contexts,omitempty"`

	path string
}

// Errors of contexts that a program may want to tell apart.
var (
	ErrNoContext = errors.New("no such context")
	ErrExposed   = errors.New("others may read it, and it has secrets")
)

// maxFile bounds a contexts file.
const maxFile = 1 << 20

// DefaultFile returns where the contexts file is: ELASTICJOB_CONFIG, or a place in the user's
// configuration folder.
func DefaultFile(lookup func(string) (string, bool)) (string, error) {
	if path, ok := lookup("ELASTICJOB_CONFIG"); ok && path != "" {
		return filepath.Abs(path)
	}
	folder, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("where is the contexts file? set ELASTICJOB_CONFIG: %w", err)
	}
	return filepath.Join(folder, "elasticjob", "config.yaml"), nil
}

// ReadFile reads a contexts file. One that is not there has no context. One that others may read, and
// which has a secret, is refused: ErrExposed.
func ReadFile(path string) (*File, error) {
	f := &File{Contexts: map[string]Settings{}, path: path}
	document, info, err := bounded.File(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, fmt.Errorf("contexts file: %w", err)
	}
	if err := yamldoc.Strict(document, f); err != nil {
		return nil, fmt.Errorf("contexts file %s: %w", path, err)
	}
	for name := range f.Contexts {
		if err := checkName(name); err != nil {
			return nil, fmt.Errorf("contexts file %s: %w", path, err)
		}
	}
	if info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" && f.hasSecret() {
		return nil, fmt.Errorf("contexts file %s, mode %v: %w: chmod 600 it, and think about changing them", path, info.Mode().Perm(), ErrExposed)
	}
	return f, nil
}

func (f *File) hasSecret() bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(f.Contexts)), Settings.secret)
}

// Names returns the names of all contexts, ascending.
func (f *File) Names() []string { return slices.Sorted(maps.Keys(f.Contexts)) }

// Context returns a context.
func (f *File) Context(name string) (Settings, error) {
	s, ok := f.Contexts[name]
	if !ok {
		var known brief.List
		for _, other := range f.Names() {
			known.Add(other)
		}
		if known.Empty() {
			return Settings{}, fmt.Errorf("%w: %s; %s has none", ErrNoContext, brief.Quote(name), f.path)
		}
		return Settings{}, fmt.Errorf("%w: %s; %s has %v", ErrNoContext, brief.Quote(name), f.path, &known)
	}
	for _, field := range Fields() {
		if path := field.In(&s); field.Path && *path != "" && !filepath.IsAbs(*path) {
			*path = filepath.Join(filepath.Dir(f.path), *path)
		}
	}
	return s, nil
}

// Set adds a context, or replaces it, if its settings are in order. The first one becomes the current one.
func (f *File) Set(name string, s Settings) error {
	if err := checkName(name); err != nil {
		return err
	}
	if err := s.Check(); err != nil {
		return err
	}
	if len(f.Contexts) == 0 {
		f.Current = name
	}
	f.Contexts[name] = s
	return nil
}

// Delete removes a context.
func (f *File) Delete(name string) error {
	if _, err := f.Context(name); err != nil {
		return err
	}
	delete(f.Contexts, name)
	if f.Current == name {
		f.Current = ""
	}
	return nil
}

// Use makes a context the current one.
func (f *File) Use(name string) error {
	if _, err := f.Context(name); err != nil {
		return err
	}
	f.Current = name
	return nil
}

// Save writes the file, readable by its owner alone. Of two who save at the same time the last one
// wins; nobody reads half a file.
func (f *File) Save() error {
	document, err := yaml.Marshal(f)
	if err != nil {
		return fmt.Errorf("contexts file: %w", err)
	}
	err = os.MkdirAll(filepath.Dir(f.path), 0o700)
	if err == nil {
		err = lockedfile.Replace(f.path, document, nil)
	}
	if err != nil {
		return fmt.Errorf("contexts file: %w", err)
	}
	return nil
}

func checkName(name string) error {
	if !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`).MatchString(name) {
		return fmt.Errorf("context %s: allowed are 1 to 100 letters, digits, '.', '_' and '-', a letter or digit first", brief.Quote(name))
	}
	return nil
}
