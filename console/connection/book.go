package connection

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/rest"
	"github.com/elasticjob-go/elasticjob/job/property"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Options say what a book has. All are optional, but for Dial and OpenHistory where something needs them.
type Options struct {
	// File is the path of the file with the entries that can be changed. It is made with the first of
	// them. Without it, and without Given, a book is empty.
	File string
	// Given are the namespaces that the program gives, and GivenDatabases the databases. They cannot be
	// changed.
	Given          []Given
	GivenDatabases []GivenDatabase
	// Dial connects to a namespace. Its Password is the secret itself. It has to end with the context.
	// The registry becomes the book's.
	Dial func(context.Context, Namespace) (coord.Registry, error)
	// OpenHistory opens a database, without asking it anything. Its Password is the secret itself.
	OpenHistory func(Database) (History, error)
	// Keys encrypt passwords in the file. Without them the book takes references alone.
	Keys *Keys
	// Allow says what entries may refer to that the book is told to put.
	Allow Allow
	// Log is told what goes wrong in the background. Default slog.Default().
	Log *slog.Logger
}

// Allow is what entries may refer to that somebody puts over the network: he can have it sent where he
// likes, so it should be made for that. What stands in the file by other hands may refer to anything.
type Allow struct {
	// Variables are those of the environment.
	Variables []string
	// Folders have the files of passwords, of TLS, and of SQLite, in any depth.
	Folders []string
}

// Given is a namespace of the program: what it is, and how to get there: Ops is used as it is, and stays
// the program's; Dial connects; if both are nil, Options.Dial does.
type Given struct {
	Namespace
	Ops  *ops.Ops
	Dial func(context.Context) (coord.Registry, error)
}

// GivenDatabase is a database of the program. If Open is nil, Options.OpenHistory opens it.
type GivenDatabase struct {
	Database
	Open func() (History, error)
}

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
	if o.Log == nil {
		o.Log = slog.Default()
	}
	b := &Book{o: o, turn: make(chan struct{}, 1), test: make(chan struct{}, maxTests), spaces: map[string]*space{}, pasts: map[string]*past{}}
	b.life, b.end = context.WithCancel(context.Background())
	return b
}

// give adds what the program gives.
func (b *Book) give() error {
	for _, g := range b.o.GivenDatabases {
		d := g.Database.with(g.Name, Plain(stored(g.Password.Reveal()).String()), true, "")
		if err := checkName(d.Name); err != nil || b.pasts[d.Name] != nil {
			return fmt.Errorf("database %s: %w", brief.Quote(d.Name), errors.Join(err, twice(b.pasts[d.Name] != nil)))
		}
		open := b.opener(d, stored(g.Password.Reveal()))
		if g.Open != nil {
			open = func() (History, string, error) { h, err := g.Open(); return h, "", err }
		} else if err := errors.Join(g.check(), missing("OpenHistory", b.o.OpenHistory == nil)); err != nil {
			return fmt.Errorf("database %s: %w", brief.Quote(d.Name), err)
		}
		b.pasts[d.Name] = newPast("", d, open)
	}
	for _, g := range b.o.Given {
		n := g.Namespace.with(g.Name, Plain(stored(g.Password.Reveal()).String()), true, "")
		if err := checkName(n.Name); err != nil || b.spaces[n.Name] != nil {
			return fmt.Errorf("namespace %s: %w", brief.Quote(n.Name), errors.Join(err, twice(b.spaces[n.Name] != nil)))
		}
		if n.Database != "" && b.pasts[n.Database] == nil {
			return fmt.Errorf("namespace %s: %w: %s", brief.Quote(n.Name), ErrNoDatabase, brief.Quote(n.Database))
		}
		switch {
		case g.Ops != nil:
			b.spaces[n.Name] = givenSpace(n, g.Ops)
			continue
		case g.Dial == nil:
			if err := errors.Join(g.check(), missing("Dial", b.o.Dial == nil)); err != nil {
				return fmt.Errorf("namespace %s: %w", brief.Quote(n.Name), err)
			}
			b.spaces[n.Name] = newSpace("", n, b.dialer(n, stored(g.Password.Reveal())))
		default:
			b.spaces[n.Name] = newSpace("", n, g.Dial)
		}
	}
	return nil
}

func twice(is bool) error {
	if is {
		return ErrExists
	}
	return nil
}

func missing(option string, is bool) error {
	if is {
		return fmt.Errorf("option %s is missing", option)
	}
	return nil
}

// dialer returns what connects to a namespace with the secret that is stored.
func (b *Book) dialer(n Namespace, secret stored) dial {
	return func(ctx context.Context) (coord.Registry, error) {
		password, err := b.reveal(secret, n.destination())
		if err != nil {
			return nil, err
		}
		reg, err := b.o.Dial(ctx, n.with(n.Name, Plain(password), n.Fixed, n.Version))
		if err != nil {
			return nil, hide(err, password) // reg may be the nil pointer of an adapter
		}
		return reg, nil
	}
}

// opener returns what opens a database with the secret that is stored.
func (b *Book) opener(d Database, secret stored) func() (History, string, error) {
	return func() (History, string, error) {
		password, err := b.reveal(secret, d.destination())
		if err != nil {
			return nil, "", err
		}
		h, err := b.o.OpenHistory(d.with(d.Name, Plain(password), d.Fixed, d.Version))
		return h, password, err
	}
}

// reveal returns the secret itself.
func (b *Book) reveal(s stored, destination string) (password string, err error) {
	switch {
	case isSealed(string(s)):
		password, err = b.o.Keys.unseal(s, destination)
	case isReference(string(s)):
		password, err = property.Expand(string(s), property.FromProcess())
	default:
		return string(s), nil
	}
	if err != nil {
		return "", fmt.Errorf("password: %w", err)
	}
	return password, nil
}

// adopt makes the content of the file count.
func (b *Book) adopt(content []byte) error {
	d, err := parse(content)
	if err == nil {
		err = b.fits(d)
	}
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.isClosed {
		return ErrClosed
	}
	b.content, b.document, b.fault = content, d, nil
	replace(b, b.pasts, d.Databases, (*past).keeps, func(key string, shown Database, secret stored) *past {
		return newPast(key, shown, b.opener(shown, secret))
	})
	replace(b, b.spaces, d.Namespaces, (*space).keeps, func(key string, shown Namespace, secret stored) *space {
		return newSpace(key, shown, b.dialer(shown, secret))
	})
	return nil
}

// fits says what is wrong with a document beside what the program has given.
func (b *Book) fits(d document) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(d.Namespaces) > 0 && b.o.Dial == nil || len(d.Databases) > 0 && b.o.OpenHistory == nil {
		return errors.New("the program does not know how to connect: options Dial and OpenHistory are missing")
	}
	for name := range d.Databases {
		if p := b.pasts[name]; p != nil && p.isGiven() {
			return fmt.Errorf("databases: %s: %w, of the program", brief.Quote(name), ErrExists)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Namespaces)) {
		if s := b.spaces[name]; s != nil && s.isGiven() {
			return fmt.Errorf("namespaces: %s: %w, of the program", brief.Quote(name), ErrExists)
		}
		database := d.Namespaces[name].Item.Database
		if _, ok := d.Databases[database]; ok || database == "" {
			continue
		}
		if p := b.pasts[database]; p == nil || !p.isGiven() {
			return fmt.Errorf("namespaces: %s: %w", brief.Quote(name), field("database", "%w: %s", ErrNoDatabase, brief.Quote(database)))
		}
	}
	return nil
}

// connected is a space or a past.
type connected interface {
	isGiven() bool
	// isUnused reports whether nobody has asked for it.
	isUnused() bool
	close(context.Context) error
}

// replace makes connections fit the entries of a file. What is connected as the new entry says stays so:
// then keeps takes what is to be shown. mu is held.
func replace[T item[T], C connected](b *Book, all map[string]C, entries map[string]entry[T],
	keeps func(c C, key string, shown T) bool, create func(key string, shown T, secret stored) C) {
	for name, c := range all {
		if _, ok := entries[name]; !ok && !c.isGiven() {
			delete(all, name)
			b.farewell(c)
		}
	}
	for name, e := range entries {
		shown := e.shown(name)
		key := text(shown.link(), string(e.Stored))
		old, ok := all[name]
		if ok && keeps(old, key, shown) {
			continue
		}
		if ok {
			b.farewell(old)
		}
		all[name] = create(key, shown, e.Stored)
	}
}

const (
	// grace is how long a connection lives on after its entry was changed or removed: as long as a
	// request may take.
	grace = 30 * time.Second
	// maxFarewells bounds how many do.
	maxFarewells = 20

	closeTime = 10 * time.Second
)

// farewell closes a connection when those who use it have had time to end. mu is held.
func (b *Book) farewell(c connected) {
	wait := grace
	if c.isUnused() || b.farewells >= maxFarewells {
		wait = 0
	}
	b.farewells++
	b.work.Go(func() {
		rest.For(b.life, wait)
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		if err := c.close(ctx); err != nil {
			b.o.Log.Warn("a connection of before is not closed properly", "error", err)
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.farewells--
	})
}

// followEvery is how often a book looks whether somebody has changed its file.
const followEvery = 2 * time.Second

// follow adopts the file when somebody has changed it, until the book is closed. What is found has to be
// the same twice, because not everybody writes a file at once.
func (b *Book) follow() {
	var before []byte
	for rest.For(b.life, followEvery) {
		select {
		case b.turn <- struct{}{}:
			before = b.look(before)
			<-b.turn
		case <-b.life.Done():
		}
	}
}

// look looks at the file once, and returns what it has. before is what it had the last time. Nobody in this
// process changes it meanwhile.
func (b *Book) look(before []byte) []byte {
	content, ok, err := load(b.o.File)
	b.mu.Lock()
	isOld, wasThere := bytes.Equal(content, b.content), b.content != nil
	b.mu.Unlock()
	switch {
	case err != nil:
	case !ok && wasThere:
		err = errors.New("it is not there any more")
	case isOld:
	case before != nil && bytes.Equal(content, before):
		err = b.adopt(content)
	default:
		return content
	}
	b.setFault(err)
	return content
}

// setFault notes what is wrong with the file. The log is told when that changes.
func (b *Book) setFault(err error) {
	if err != nil {
		err = fmt.Errorf("connection: file %s: %w; what it had before still counts", b.o.File, brief.Error(err))
	}
	b.mu.Lock()
	old := b.fault
	b.fault = err
	b.mu.Unlock()
	switch {
	case err != nil && (old == nil || old.Error() != err.Error()):
		b.o.Log.Error("the file of connections cannot be used", "error", err)
	case err == nil && old != nil:
		b.o.Log.Info("the file of connections can be used again", "file", b.o.File)
	}
}

// Fault returns why the file cannot be used since somebody has changed it; nil if all is well. What it
// had before counts until then, and nothing can be put.
func (b *Book) Fault() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.fault
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
		return o, err
	}
}

func (b *Book) notTraced(c ops.Change, err error) {
	b.o.Log.Error("a change is not in the history", "change", c.ID, "action", string(c.Action), "job", c.Job, "error", err)
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
