// Package target says on which namespace of which store the command works, and connects to it.
//
// # Where settings come from
//
//	flags ──► environment ──► context ──► default
//
// What stands further left counts. Each setting goes its own way, with four exceptions, because a
// password must not get to a store that it was not meant for, nor a change to the history of another namespace:
//
//   - Once flags or the environment name a store, no context gives anything.
//   - Once they name another namespace than the context, its history does not count.
//   - A context that is chosen by a flag takes the place of the environment.
//   - A password does not count for another user than the one beside whom it stands.
//
// Two that contradict each other, a store and a context given in the same place, are a mistake.
//
// # Secrets
//
// No flag takes a password: the list of processes shows flags to everybody. It comes from a file,
// from the environment, from the contexts file, or from the person at the terminal. In the contexts
// file it may be a reference, ${env:NAME} or ${file:/path}. Nothing that this package prints or
// returns as an error has one.
package target

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/veil"
)

// Settings are what one place says: flags, the environment, or a context. What is empty says nothing.
type Settings struct {
	Store        string `yaml:"store,omitempty" json:"store,omitempty"`
	Endpoints    string `yaml:"endpoints,omitempty" json:"endpoints,omitempty"`
	Namespace    string `yaml:"namespace,omitempty" json:"namespace,omitempty"`
	User         string `yaml:"user,omitempty" json:"user,omitempty"`
	Password     string `yaml:"password,omitempty" json:"password,omitempty"`
	PasswordFile string `yaml:"passwordFile,omitempty" json:"passwordFile,omitempty"`
	CACert       string `yaml:"cacert,omitempty" json:"cacert,omitempty"`
	Cert         string `yaml:"cert,omitempty" json:"cert,omitempty"`
	Key          string `yaml:"key,omitempty" json:"key,omitempty"`
	ServerName   string `yaml:"serverName,omitempty" json:"serverName,omitempty"`
	Grants       string `yaml:"grants,omitempty" json:"grants,omitempty"`
	History      string `yaml:"history,omitempty" json:"history,omitempty"`
	// Production marks a context whose changes have the namespace typed: see Place.
	Production bool `yaml:"production,omitempty" json:"production,omitempty"`

	noHistory string // why the history of the context does not count: the error of OpenHistory
}

// Field is one setting that is a text.
type Field struct {
	// Flag is its flag, without --; empty if it has none. Env is its variable.
	Flag, Env string
	// Meaning is for help.
	Meaning string
	// In returns where it stands in settings.
	In func(*Settings) *string
	// Path is whether it is the path of a file.
	Path bool
}

// Fields returns all settings but Production, which only a context has.
func Fields() []Field {
	return []Field{
		{Flag: "store", Env: "ELASTICJOB_STORE", In: func(s *Settings) *string { return &s.Store },
			Meaning: "etcd://host,host:port/namespace, or zookeeper://…; with TLS etcd+tls://, zookeeper+tls://"},
		{Flag: "endpoints", Env: "ELASTICJOB_ENDPOINTS", In: func(s *Settings) *string { return &s.Endpoints },
			Meaning: "host:port,host:port, in place of those in --store"},
		{Flag: "namespace", Env: "ELASTICJOB_NAMESPACE", In: func(s *Settings) *string { return &s.Namespace },
			Meaning: "namespace, in place of that in --store"},
		{Flag: "user", Env: "ELASTICJOB_USER", In: func(s *Settings) *string { return &s.User },
			Meaning: "user of the store"},
		{Env: "ELASTICJOB_PASSWORD", In: func(s *Settings) *string { return &s.Password },
			Meaning: "password of the user"},
		{Flag: "password-file", Env: "ELASTICJOB_PASSWORD_FILE", In: func(s *Settings) *string { return &s.PasswordFile }, Path: true,
			Meaning: "file with the password of the user"},
		{Flag: "cacert", Env: "ELASTICJOB_CACERT", In: func(s *Settings) *string { return &s.CACert }, Path: true,
			Meaning: "file with the certificate authorities of the servers; implies TLS"},
		{Flag: "cert", Env: "ELASTICJOB_CERT", In: func(s *Settings) *string { return &s.Cert }, Path: true,
			Meaning: "file with a client certificate; implies TLS"},
		{Flag: "key", Env: "ELASTICJOB_KEY", In: func(s *Settings) *string { return &s.Key }, Path: true,
			Meaning: "file with the private key of --cert"},
		{Flag: "server-name", Env: "ELASTICJOB_SERVER_NAME", In: func(s *Settings) *string { return &s.ServerName },
			Meaning: "name in the servers' certificates; implies TLS"},
		{Flag: "grants", Env: "ELASTICJOB_GRANTS", In: func(s *Settings) *string { return &s.Grants },
			Meaning: "ZooKeeper: what others may do with the nodes of this command: digest:USER:HASH:PERMISSIONS, …"},
		{Flag: "history", Env: "ELASTICJOB_HISTORY", In: func(s *Settings) *string { return &s.History },
			Meaning: "sqlite:/path, mysql:DSN or postgres:DSN; ${env:NAME} and ${file:/path} may be in it"},
	}
}

// Lasting returns a value of the field as it means the same in any folder: with the absolute path of a file, also of
// the database sqlite:FILE.
func (f Field) Lasting(value string) (string, error) {
	kind, file := "", value
	if path, ok := strings.CutPrefix(value, "sqlite:"); ok && f.Flag == "history" {
		kind, file = "sqlite:", path
	} else if !f.Path {
		return value, nil
	}
	if file == "" || strings.Contains(file, "${") {
		return value, nil
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return "", fmt.Errorf("--%s: %w", f.Flag, err)
	}
	return kind + path, nil
}

// FromEnvironment returns what the environment says.
func FromEnvironment(lookup func(string) (string, bool)) Settings {
	var s Settings
	for _, f := range Fields() {
		*f.In(&s), _ = lookup(f.Env) // one that is not set says nothing
	}
	return s
}

// address reports whether settings say where the store is.
func (s Settings) address() bool { return s.Store != "" || s.Endpoints != "" }

// over returns s, and what s does not say from below.
func (s Settings) over(below Settings) Settings {
	if s.Password != "" || s.PasswordFile != "" || s.User != "" && below.User != "" && s.User != below.User {
		below.Password, below.PasswordFile = "", ""
	}
	for _, f := range Fields() {
		*f.In(&s) = cmp.Or(*f.In(&s), *f.In(&below))
	}
	s.Production = s.Production || below.Production
	return s
}

// Choice is what decides on the target.
type Choice struct {
	// Flags and Environment say what they say, and Context is the context that each of them chooses.
	Flags, Environment              Settings
	FlagContext, EnvironmentContext string
	// File is the path of the contexts file.
	File string
}

// InPlace returns the first variable of the environment that counts before the current context, or before one of its
// settings; "" if none is set.
func InPlace(lookup func(string) (string, bool)) string {
	names := []string{"ELASTICJOB_CONTEXT"}
	for _, f := range Fields() {
		names = append(names, f.Env)
	}
	for _, name := range names {
		if value, _ := lookup(name); value != "" {
			return name
		}
	}
	return ""
}

// ErrNoStore: nothing names a store.
var ErrNoStore = errors.New("no store: give --store, ELASTICJOB_STORE, or a context (elasticjob context set)")

// Resolve returns the settings that count, and the name of the context that they are from, if any.
func (c Choice) Resolve() (s Settings, context string, err error) {
	if err := c.Flags.CheckFlags(); err != nil {
		return Settings{}, "", err
	}
	for place, both := range map[string]bool{
		"--store, --endpoints and --context":                                               c.Flags.address() && c.FlagContext != "",
		"ELASTICJOB_STORE, ELASTICJOB_ENDPOINTS and ELASTICJOB_CONTEXT in the environment": c.Environment.address() && c.EnvironmentContext != "" && !c.Flags.address() && c.FlagContext == "",
	} {
		if both {
			return Settings{}, "", fmt.Errorf("%s: allowed are a store or a context, not both", place)
		}
	}
	first := c.Flags
	if c.FlagContext == "" {
		first = c.Flags.over(c.Environment)
	}
	file, err := ReadFile(c.File)
	if first.address() {
		if err == nil { // a file that cannot be read keeps nobody from a store that he names
			first = file.marks(first)
		}
		return first, "", nil
	}
	if err != nil {
		return Settings{}, "", err
	}
	name := cmp.Or(c.FlagContext, c.EnvironmentContext, file.Current)
	if name == "" {
		return Settings{}, "", ErrNoStore
	}
	below, err := file.Context(name)
	if err != nil {
		return Settings{}, "", err
	}
	s = file.marks(first.over(below))
	if why := below.NoHistory(name, s); why != "" && first.History == "" {
		s.History, s.noHistory = "", why
	}
	return s, name, nil
}

// NoHistory says why the history of a context does not count for other settings: a database of the history has one
// namespace, and theirs is another one. It is empty if it counts, or if there is none.
func (s Settings) NoHistory(context string, other Settings) string {
	own, err := s.WithoutSecrets().Target()
	to, bad := other.WithoutSecrets().Target()
	if err != nil || bad != nil || s.History == "" || own.Namespace == to.Namespace {
		return ""
	}
	return fmt.Sprintf("context %s has a history, of namespace %s; for that of namespace %s give --history", context, own.Namespace, to.Namespace)
}

// SharesHistory returns an error if another namespace has its history in the database of settings, which knows jobs by their
// names only.
func (f *File) SharesHistory(s Settings) error {
	to, err := s.WithoutSecrets().Target()
	for _, name := range f.Names() {
		c := f.Contexts[name]
		at, bad := c.WithoutSecrets().Target()
		if err != nil || bad != nil || s.History == "" || c.History != s.History {
			continue
		}
		if at.Namespace != to.Namespace || !slices.ContainsFunc(at.Endpoints, func(e string) bool { return slices.Contains(to.Endpoints, e) }) {
			return fmt.Errorf("the history is also that of context %s, and does not tell their jobs apart", name)
		}
	}
	return nil
}

// marks returns settings with the mark of production if they lead where a context that has it does, whatever leads there.
func (f *File) marks(s Settings) Settings {
	to, err := s.WithoutSecrets().Target()
	for _, c := range f.Contexts {
		at, bad := c.WithoutSecrets().Target()
		if err == nil && bad == nil && c.Production && at.Kind == to.Kind && at.Namespace == to.Namespace &&
			slices.ContainsFunc(at.Endpoints, func(e string) bool { return slices.Contains(to.Endpoints, e) }) {
			s.Production = true
		}
	}
	return s
}

// CheckFlags refuses settings that flags may not have: a password in the address of the history, in clear text.
func (s Settings) CheckFlags() error {
	address := references.ReplaceAllString(s.History, masked)
	_, dsn, _ := strings.Cut(address, ":")
	if hasSecret := func(text string) bool { return veil.Value("", text) != text }; hasSecret(address) || hasSecret(" "+dsn) {
		return errors.New("--history: the list of processes shows a password in a flag to everybody: write '${env:NAME}' or '${file:/path}' in its place, or give ELASTICJOB_HISTORY")
	}
	return nil
}

// references matches what stands for a value that is elsewhere.
var references = regexp.MustCompile(`\$\{(?:env|file):[^{}]*\}`)

// Mask returns settings of which everything may be shown.
func (s Settings) Mask() Settings {
	if s.Password != "" && !isReference(s.Password) {
		s.Password = masked
	}
	if kind, dsn, ok := strings.Cut(s.History, ":"); ok && kind != "sqlite" && !isReference(dsn) {
		s.History = kind + ":" + masked
	}
	if scheme, rest, ok := strings.Cut(s.Store, "://"); ok && strings.Contains(rest, ":") && strings.Contains(rest, "@") {
		s.Store = scheme + "://" + masked + rest[strings.LastIndex(rest, "@"):]
	}
	if strings.Contains(s.Endpoints, "@") { // no endpoint has one: see Target
		s.Endpoints = masked
	}
	return s
}

// masked stands where a secret is.
const masked = "***"

// isReference reports whether a text is one reference and nothing else.
func isReference(text string) bool {
	return slices.ContainsFunc([]string{"${env:", "${file:"}, func(start string) bool { return strings.HasPrefix(text, start) }) &&
		strings.IndexByte(text, '}') == len(text)-1
}

// secret reports whether settings have a secret in clear text.
func (s Settings) secret() bool { return s.Mask() != s }

// Named returns the settings that a text stands for: the address of a store as --store takes it, or the
// name of a context, which it returns then. They have the mark of production as those of Resolve.
func Named(text string, file func() (string, error)) (s Settings, context string, err error) {
	isAddress := strings.Contains(text, "://")
	var f *File
	path, err := file()
	if err == nil {
		f, err = ReadFile(path)
	}
	switch {
	case isAddress && err != nil: // a file that cannot be read keeps nobody from a store that he names
		return Settings{Store: text}, "", nil
	case isAddress:
		return f.marks(Settings{Store: text}), "", nil
	case err != nil:
		return Settings{}, "", err
	}
	s, err = f.Context(text)
	return f.marks(s), text, err
}

// Check returns what is wrong with settings, as far as that can be told without reading secrets and
// files.
func (s Settings) Check() error {
	_, err := s.WithoutSecrets().Target()
	return err
}

// WithoutSecrets returns what needs no file, and nobody to be asked. Nobody can connect with it.
func (s Settings) WithoutSecrets() Settings {
	s.User, s.Password, s.PasswordFile, s.CACert, s.Cert, s.Key = "", "", "", "", "", ""
	return s
}
