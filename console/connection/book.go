package connection

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Book has what a console knows, and is connected to. It is safe for use by several goroutines.
type Book struct {
	o    Options
	life context.Context // ends with Close
	end  context.CancelFunc
	work sync.WaitGroup // what follows the file, and what closes connections
	turn chan struct{}  // has one while somebody changes the file
	test chan struct{}  // has one for each test

	mu        sync.Mutex
	isClosed  bool
	content   []byte // of the file
	document  document
	fault     error
	spaces    map[string]*space
	pasts     map[string]*past
	farewells int // connections that will be closed
}

// Fixed returns a book of namespaces that a program is connected to already. They stay the caller's.
func Fixed(namespaces map[string]*ops.Ops) *Book {
	b := newBook(Options{})
	for name, o := range namespaces {
		b.spaces[name] = givenSpace(Namespace{Name: name, Fixed: true}, o)
	}
	return b
}

func givenSpace(shown Namespace, o *ops.Ops) *space {
	s := &space{name: shown.Name, path: shown.Path, shown: shown, given: o, state: newTracker("namespace", shown.Name)}
	s.state.set(Connected, nil) // as far as the book knows
	return s
}

// Open returns a book. It connects to nothing until somebody asks for it. Close it.
//
// Errors: what is wrong with an option, or with the file, with the place in it.
func Open(o Options) (*Book, error) {
	for _, folder := range slices.Clone(o.Allow.Folders) {
		real, err := filepath.EvalSymlinks(folder)
		if err == nil && !filepath.IsAbs(folder) {
			err = errors.New("its path has to begin at the root")
		}
		if err != nil {
			return nil, fmt.Errorf("connection: allowed folder %s: %w", brief.Quote(folder), err)
		}
		o.Allow.Folders = append(slices.Clip(o.Allow.Folders), real)
	}
	b := newBook(o)
	if err := b.give(); err != nil {
		return nil, fmt.Errorf("connection: %w", err)
	}
	if o.File == "" {
		return b, nil
	}
	content, _, err := load(o.File)
	if err == nil {
		err = b.adopt(content)
	}
	if err != nil {
		return nil, fmt.Errorf("connection: file %s: %w", o.File, err)
	}
	b.work.Go(b.follow)
	return b, nil
}

func newBook(o Options) *Book {
	if o.Slog == nil {
		o.Slog = slog.New(slog.DiscardHandler)
	}
	b := &Book{o: o, turn: make(chan struct{}, 1), test: make(chan struct{}, maxTests), spaces: map[string]*space{}, pasts: map[string]*past{}}
	b.life, b.end = context.WithCancel(context.Background())
	return b
}

// Namespaces returns all namespaces, by name.
func (b *Book) Namespaces() []Namespace {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []Namespace
	for _, name := range slices.Sorted(maps.Keys(b.spaces)) {
		all = append(all, b.spaces[name].shown)
	}
	return all
}

// Namespace returns a namespace.
//
// Errors: ErrNoNamespace.
func (b *Book) Namespace(name string) (Namespace, error) {
	s, _, err := b.find(name)
	if err != nil {
		return Namespace{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return s.shown, nil
}

// find returns a namespace, and its database, or nil if it has none.
func (b *Book) find(name string) (*space, *past, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.spaces[name]
	if s == nil {
		return nil, nil, fmt.Errorf("%w: %s", ErrNoNamespace, brief.Quote(name))
	}
	return s, b.pasts[s.shown.Database], nil
}

// Databases returns all databases, by name.
func (b *Book) Databases() []Database {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []Database
	for _, name := range slices.Sorted(maps.Keys(b.pasts)) {
		all = append(all, b.pasts[name].shown)
	}
	return all
}

// Database returns a database.
//
// Errors: ErrNoDatabase.
func (b *Book) Database(name string) (Database, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.pasts[name]
	if p == nil {
		return Database{}, fmt.Errorf("%w: %s", ErrNoDatabase, brief.Quote(name))
	}
	return p.shown, nil
}

// NamespacesOf returns the names of the namespaces whose jobs have their history in a database,
// ascending.
func (b *Book) NamespacesOf(database string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var names []string
	for name, s := range b.spaces {
		if database != "" && s.shown.Database == database {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// States returns how it stands with each namespace and database: databases first, by name.
func (b *Book) States() []State {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []State
	for _, p := range b.pasts {
		all = append(all, p.state.get())
	}
	for _, s := range b.spaces {
		all = append(all, s.state.get())
	}
	slices.SortFunc(all, func(a, c State) int {
		return strings.Compare(a.What+"\x00"+a.Name, c.What+"\x00"+c.Name)
	})
	return all
}

// Ops returns the operations on a namespace, and connects to it if nobody has: see [ops.Stores.Ops]. They have
// the history of its database, and keep changes there; when the database is away, all but the history
// works. Ask anew for each request: after a change of the entry what was returned before ends within
// 30 s, with coord.ErrClosed.
//
// Errors: ErrNoNamespace; ops.ErrStoreAway, with the reason; the cause of ctx.
func (b *Book) Ops(ctx context.Context, name string) (*ops.Ops, error) {
	for {
		s, p, err := b.find(name)
		if err != nil {
			return nil, err
		}
		var options []ops.Option
		if p != nil {
			options = []ops.Option{ops.WithHistory(p), ops.WithTrace(p, b.notTraced)}
		}
		o, err := s.ops(ctx, options)
		if errors.Is(err, ops.ErrStoresClosed) && b.namespace(name) != s && ctx.Err() == nil {
			continue // the entry was changed just now
		}
		if err == nil && b.o.OnChange != nil {
			o = o.OnChange(func(c ops.Change) { b.o.OnChange(name, c) })
		}
		return o, err
	}
}

func (b *Book) notTraced(c ops.Change, err error) {
	b.o.Slog.Error("a change is not in the history", "change", c.ID, "action", string(c.Action), "job", c.Job, "error", err)
}

// History returns what answers questions about the past of the jobs in a database. That is opened with the
// first question.
//
// Errors: ErrNoDatabase.
func (b *Book) History(database string) (Past, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.pasts[database]
	if p == nil {
		return nil, fmt.Errorf("%w: %s", ErrNoDatabase, brief.Quote(database))
	}
	return p, nil
}

// Close closes all connections that the book has made. ctx bounds how long it waits for that. A second
// Close does nothing.
func (b *Book) Close(ctx context.Context) error {
	b.mu.Lock()
	isClosed := b.isClosed
	b.isClosed = true
	b.mu.Unlock()
	if isClosed {
		return nil
	}
	b.end()
	errs := make(chan error)
	for _, s := range b.spaces {
		go func() { errs <- s.close(ctx) }()
	}
	for _, p := range b.pasts {
		go func() { errs <- p.close(ctx) }()
	}
	var all error
	for range len(b.spaces) + len(b.pasts) {
		all = errors.Join(all, <-errs)
	}
	done := make(chan struct{})
	go func() {
		b.work.Wait()
		close(done)
	}()
	select {
	case <-done:
		return all
	case <-ctx.Done():
		return errors.Join(all, fmt.Errorf("connection: something is still being closed: %w", context.Cause(ctx)))
	}
}
