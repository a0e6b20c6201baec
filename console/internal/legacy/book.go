package legacy

import (
	"context"
	"errors"

	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// Errors of a Book that have a status of their own.
var (
	// ErrInput: a centre or a data source is not as it has to be; the error has the field.
	ErrInput = errors.New("not allowed")
	// ErrConflict: what is there is in the way: a centre that the program was started with cannot be
	// deleted, say.
	ErrConflict = errors.New("refused")
	// ErrExists: there is one of that name.
	ErrExists = errors.New("there is one of that name")
)

// Book has the namespaces and the databases that the console knows. ElasticJob calls them registry
// centres and data sources of event traces. Its errors are also those of package connection.
type Book interface {
	// Centers returns all of them, by name.
	Centers() []Center
	// Ops returns the operations on a namespace, by the name of its centre.
	Ops(ctx context.Context, center string) (*ops.Ops, error)
	AddCenter(ctx context.Context, c Center, digest string) error
	RemoveCenter(ctx context.Context, name string) error

	// Sources returns all of them, by name.
	Sources() []Source
	// History returns who answers questions about what is in a data source.
	History(ctx context.Context, source string) (history.Reader, error)
	AddSource(ctx context.Context, s Source, password string) error
	RemoveSource(ctx context.Context, name string) error
	// TestSource connects once, for a few seconds at most. An error says no more than a word about why
	// that has failed.
	TestSource(ctx context.Context, s Source, password string) error
}

// Center is a namespace of a store.
type Center struct {
	Name string
	// Etcd is whether the store is etcd. Otherwise it is ZooKeeper.
	Etcd      bool
	Endpoints []string
	Path      string // the namespace in the store
	Database  string // the source with the history of its jobs; empty if there is none
}

// Source is a database with the history of jobs.
type Source struct {
	Name    string
	Driver  string // sqlite, mysql or postgres
	Address string // host:port, or the path of a file
	Schema  string // the database of the server
	User    string
	TLS     bool
	// Namespaces are the names of the centres whose history it has.
	Namespaces []string
}
