// Package connection has the namespaces and the databases of histories that a console knows, and
// connects to them.
package connection

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Errors that a program may want to tell apart.
var (
	// ErrNoNamespace: the console knows no namespace of that name.
	ErrNoNamespace = errors.New("connection: no such namespace")
	// ErrNoDatabase: the console knows no database of that name.
	ErrNoDatabase = errors.New("connection: no such database")
)

// Namespace is a namespace of a store, by the name that the console has for it. ElasticJob's console calls it
// a registry centre.
type Namespace struct {
	Name string `json:"name" yaml:"name"`
	// Database is the name of the database with the history of its jobs; empty if there is none.
	Database string `json:"database,omitempty" yaml:"database,omitempty"`
}

// Book has what a console is connected to.
type Book struct {
	fixed map[string]*ops.Ops
}

// Fixed returns a book of namespaces that a program is connected to already. They stay the caller's.
func Fixed(namespaces map[string]*ops.Ops) *Book { return &Book{fixed: maps.Clone(namespaces)} }

// Namespaces returns all namespaces, by name, without secrets.
func (b *Book) Namespaces() []Namespace {
	var all []Namespace
	for _, name := range slices.Sorted(maps.Keys(b.fixed)) {
		all = append(all, Namespace{Name: name})
	}
	return all
}

// Ops returns the operations on a namespace, and connects to it if nobody has.
//
// Errors: ErrNoNamespace; ops.ErrStoreAway, with the reason; the cause of ctx.
func (b *Book) Ops(ctx context.Context, name string) (*ops.Ops, error) {
	o := b.fixed[name]
	if o == nil {
		return nil, fmt.Errorf("%w: %s", ErrNoNamespace, brief.Quote(name))
	}
	return o, nil
}

// Close closes all connections that the book has made.
func (b *Book) Close(context.Context) error { return nil }
