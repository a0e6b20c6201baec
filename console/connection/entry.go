package connection

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// Kind is the kind of a store.
type Kind string

// The kinds.
const (
	Etcd      Kind = "etcd"
	ZooKeeper Kind = "zookeeper"
)

// Driver is the kind of a database.
type Driver string

// The drivers. There are no others, whatever a program has linked.
const (
	SQLite   Driver = "sqlite"
	MySQL    Driver = "mysql"
	Postgres Driver = "postgres"
)

// Namespace is a namespace of a store, by the name that the console has for it. ElasticJob's console calls it
// a registry centre.
type Namespace struct {
	Name string `json:"name" yaml:"-"`
	Kind Kind   `json:"kind" yaml:"kind"`
	// Endpoints are host:port of the members of the store, 1 to 20.
	Endpoints []string `json:"endpoints" yaml:"endpoints,flow"`
	// Path is the namespace within the store: shop/jobs, say.
	Path string `json:"namespace" yaml:"namespace"`
	// User and Password are both there, or none.
	User     string `json:"user,omitempty" yaml:"user,omitempty"`
	Password Secret `json:"password,omitzero" yaml:"-"`
	// TLS is nil if connections are not encrypted.
	TLS *TLS `json:"tls,omitempty" yaml:"tls,omitempty"`
	// Grants are what others may do with the nodes that the console makes in ZooKeeper, which needs
	// User: digest:USER:HASH:PERMISSIONS, … . Passwords may be guessed from the hashes: show them to
	// admins alone.
	Grants string `json:"grants,omitempty" yaml:"grants,omitempty"`
	// Database is the name of the database with the history of its jobs; empty if there is none.
	Database string `json:"database,omitempty" yaml:"database,omitempty"`
	// Fixed is whether the program has given it, so nobody can change it.
	Fixed bool `json:"fixed,omitempty" yaml:"-"`
	// Production marks a fixed one whose pages warn of changes.
	Production bool `json:"production,omitempty" yaml:"-"`
	// Version is another one after each change. It is empty for a fixed one.
	Version string `json:"version,omitempty" yaml:"-"`
}

// Database is a database with the history of jobs. ElasticJob's console calls it an event trace data
// source.
type Database struct {
	Name   string `json:"name" yaml:"-"`
	Driver Driver `json:"driver" yaml:"driver"`
	// Address is host:port; of SQLite the path of the file.
	Address string `json:"address" yaml:"address"`
	// Schema is the name of the database in the server. SQLite has none, no user and no TLS.
	Schema   string `json:"database,omitempty" yaml:"database,omitempty"`
	User     string `json:"user,omitempty" yaml:"user,omitempty"`
	Password Secret `json:"password,omitzero" yaml:"-"`
	// TLS is nil if connections are not encrypted.
	TLS *TLS `json:"tls,omitempty" yaml:"tls,omitempty"`
	// Fixed is whether the program has given it, so nobody can change it.
	Fixed bool `json:"fixed,omitempty" yaml:"-"`
	// Version is another one after each change. It is empty for a fixed one.
	Version string `json:"version,omitempty" yaml:"-"`
}

// TLS says how connections are encrypted. Servers must always show a certificate that is trusted.
type TLS struct {
	// CACert is the path of a file with the authorities that are trusted. Default those of the system.
	CACert string `json:"cacert,omitempty" yaml:"cacert,omitempty"`
	// Cert and Key are the paths of files with a client's certificate and its private key: both or none.
	Cert string `json:"cert,omitempty" yaml:"cert,omitempty"`
	Key  string `json:"key,omitempty" yaml:"key,omitempty"`
	// ServerName is the name in the servers' certificates. Default the host of the address.
	ServerName string `json:"serverName,omitempty" yaml:"serverName,omitempty"`
}

// Bounds of a book and its entries.
const (
	// MaxEntries bounds namespaces and databases, each.
	MaxEntries = 100

	maxEndpoints = 20
	maxText      = 255 // bytes
	maxPassword  = 1024
	maxGrants    = 4096
)

// item is what Namespace and Database have in common.
type item[T any] interface {
	name() string
	password() Secret
	// destination is to whom, and how, the password is sent, as a text. For another one it has to be
	// given again.
	destination() string
	// link is all that a connection depends on but the password.
	link() string
	// files are the paths of files that it names, by field.
	files() map[string]string
	check() error
	// with returns it with what the book knows of it.
	with(name string, password Secret, isFixed bool, version string) T
}

// String says where the namespace is, without secrets.
func (n Namespace) String() string {
	return fmt.Sprintf("%s: %s://%s%s/%s", n.Name, n.Kind, at(n.User), strings.Join(n.Endpoints, ","), n.Path)
}

// String says where the database is, without secrets.
func (d Database) String() string {
	return fmt.Sprintf("%s: %s://%s%s/%s", d.Name, d.Driver, at(d.User), d.Address, d.Schema)
}

func at(user string) string {
	if user == "" {
		return ""
	}
	return user + "@"
}

func (n Namespace) name() string     { return n.Name }
func (n Namespace) password() Secret { return n.Password }

func (n Namespace) destination() string {
	return text("namespace", n.Name, n.Kind, n.Endpoints, n.User, n.TLS)
}

func (n Namespace) link() string { return text(n.destination(), n.Path, n.Grants) }

func (n Namespace) files() map[string]string { return n.TLS.files() }

func (n Namespace) with(name string, password Secret, isFixed bool, version string) Namespace {
	n.Name, n.Password, n.Fixed, n.Version = name, password, isFixed, version
	return n
}

func (d Database) name() string     { return d.Name }
func (d Database) password() Secret { return d.Password }

func (d Database) destination() string {
	return text("database", d.Name, d.Driver, d.Address, d.User, d.TLS)
}

func (d Database) link() string { return text(d.destination(), d.Schema) }

func (d Database) files() map[string]string {
	if d.Driver == SQLite {
		return map[string]string{"address": d.Address}
	}
	return d.TLS.files()
}

func (d Database) with(name string, password Secret, isFixed bool, version string) Database {
	d.Name, d.Password, d.Fixed, d.Version = name, password, isFixed, version
	return d
}

func (t *TLS) files() map[string]string {
	if t == nil {
		return nil
	}
	return map[string]string{"tls.cacert": t.CACert, "tls.cert": t.Cert, "tls.key": t.Key}
}

// text writes values in one way only.
func text(values ...any) string {
	document, err := json.Marshal(values)
	if err != nil {
		panic(err) // no text, list or struct of texts has one
	}
	return string(document)
}

// versionOf returns the version of an entry: a digest of all that it has. Only of a password in clear text it
// has nothing but that there is one: somebody could find the password by trying.
func versionOf[T item[T]](e entry[T]) string {
	secret := string(e.Stored)
	if e.Stored.isPlain() {
		secret = masked
	}
	sum := sha256.Sum256([]byte(text(e.Item, secret)))
	return hex.EncodeToString(sum[:16])
}
