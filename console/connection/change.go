package connection

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/lockedfile"
)

// What stands for a version.
const (
	NoVersion  = ""  // there is no entry of that name yet
	AnyVersion = "*" // whatever there is
)

// PutNamespace adds a namespace, or changes the one of a version: of [Namespace].Version, NoVersion or
// AnyVersion. Name, Fixed and Version of n are not stored otherwise. A password that is [Kept], or the
// same reference as before, stays, unless it would be sent elsewhere; another one is encrypted.
//
// Errors: *EntryError, perhaps several; ErrNoNamespace, ErrExists, ErrVersion, ErrFixed, ErrMany; those of
// files; the cause of ctx.
func (b *Book) PutNamespace(ctx context.Context, n Namespace, version string) (Namespace, error) {
	err := b.change(ctx, func(d *document) error {
		if s := b.namespace(n.Name); s != nil && s.isGiven() {
			return ErrFixed
		}
		return put(b, d.Namespaces, n, version, ErrNoNamespace)
	})
	if err != nil {
		return Namespace{}, fmt.Errorf("namespace %s: %w", brief.Quote(n.Name), err)
	}
	b.tell(ctx, NamespacePut, n.String())
	return b.Namespace(n.Name)
}

// RemoveNamespace removes a namespace of a version, or of AnyVersion. Its jobs go on.
//
// Errors: ErrNoNamespace, ErrVersion, ErrFixed; those of files; the cause of ctx.
func (b *Book) RemoveNamespace(ctx context.Context, name, version string) error {
	err := b.change(ctx, func(d *document) error {
		if s := b.namespace(name); s != nil && s.isGiven() {
			return ErrFixed
		}
		return remove(d.Namespaces, name, version, ErrNoNamespace)
	})
	if err != nil {
		return fmt.Errorf("namespace %s: %w", brief.Quote(name), err)
	}
	b.tell(ctx, NamespaceRemoved, name)
	return nil
}

// PutDatabase is [Book.PutNamespace] for a database. Its errors have ErrNoDatabase.
func (b *Book) PutDatabase(ctx context.Context, database Database, version string) (Database, error) {
	err := b.change(ctx, func(d *document) error {
		if p := b.database(database.Name); p != nil && p.isGiven() {
			return ErrFixed
		}
		return put(b, d.Databases, database, version, ErrNoDatabase)
	})
	if err != nil {
		return Database{}, fmt.Errorf("database %s: %w", brief.Quote(database.Name), err)
	}
	b.tell(ctx, DatabasePut, database.String())
	return b.Database(database.Name)
}

// RemoveDatabase removes a database of a version, or of AnyVersion. What is in it stays there.
//
// Errors: ErrNoDatabase, ErrVersion, ErrFixed; ErrInUse, naming the namespaces; those of files; the cause
// of ctx.
func (b *Book) RemoveDatabase(ctx context.Context, name, version string) error {
	err := b.change(ctx, func(d *document) error {
		if p := b.database(name); p != nil && p.isGiven() {
			return ErrFixed
		}
		var users brief.List
		for _, namespace := range slices.Sorted(maps.Keys(d.Namespaces)) {
			if d.Namespaces[namespace].Item.Database == name {
				users.Add(namespace)
			}
		}
		if !users.Empty() {
			return fmt.Errorf("%w: by %v", ErrInUse, &users)
		}
		return remove(d.Databases, name, version, ErrNoDatabase)
	})
	if err != nil {
		return fmt.Errorf("database %s: %w", brief.Quote(name), err)
	}
	b.tell(ctx, DatabaseRemoved, name)
	return nil
}

// Reseal encrypts with the first key all passwords that stand in the file in clear text, or are of another
// key. It returns how many these were.
//
// Errors: ErrNoKey, ErrFixed; what cannot be decrypted; those of files; the cause of ctx.
func (b *Book) Reseal(ctx context.Context) (sealed int, err error) {
	if b.o.Keys == nil {
		return 0, ErrNoKey
	}
	err = b.change(ctx, func(d *document) error {
		namespaces, err := resealAll(b, d.Namespaces)
		databases, err2 := resealAll(b, d.Databases)
		sealed = namespaces + databases
		return errors.Join(err, err2)
	})
	if err == nil {
		b.tell(ctx, PasswordsResealed, strconv.Itoa(sealed))
	}
	return sealed, err
}

func resealAll[T item[T]](b *Book, entries map[string]entry[T]) (sealed int, err error) {
	for name, e := range entries {
		destination := e.shown(name).destination()
		if e.Stored == "" || isReference(string(e.Stored)) || b.o.Keys.isCurrent(e.Stored, destination) {
			continue
		}
		password, err := b.reveal(e.Stored, destination)
		if err != nil {
			return sealed, fmt.Errorf("%s: %w", brief.Quote(name), err)
		}
		e.Stored = b.o.Keys.seal(password, destination)
		entries[name] = e
		sealed++
	}
	return sealed, nil
}

func (b *Book) namespace(name string) *space {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spaces[name]
}

func (b *Book) database(name string) *past {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pasts[name]
}

// change changes the file, as it is now, and adopts it. Nobody else changes it meanwhile.
func (b *Book) change(ctx context.Context, do func(*document) error) error {
	if b.o.File == "" {
		return fmt.Errorf("%w: the console has no file of connections", ErrFixed)
	}
	select {
	case b.turn <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", lockedfile.ErrLocked, context.Cause(ctx))
	}
	defer func() { <-b.turn }()
	if err := os.MkdirAll(filepath.Dir(b.o.File), 0o700); err != nil {
		return err
	}
	return lockedfile.Change(ctx, b.o.File, func(path string) error { return b.changeLocked(path, do) })
}

func (b *Book) changeLocked(path string, do func(*document) error) error {
	d, err := b.current()
	if err != nil {
		return fmt.Errorf("file %s: %w", b.o.File, err)
	}
	if err := do(&d); err != nil {
		return err
	}
	content, err := d.format()
	if err == nil {
		err = errors.Join(d.check(), b.fits(d))
	}
	if err != nil {
		return err
	}
	if err := lockedfile.Replace(path, content, nil); err != nil {
		return fmt.Errorf("file %s: %w", b.o.File, err)
	}
	return b.adopt(content)
}

// current reads the file.
func (b *Book) current() (document, error) {
	content, ok, err := load(b.o.File)
	if err != nil {
		return document{}, err
	}
	b.mu.Lock()
	wasThere := b.content != nil
	b.mu.Unlock()
	if !ok && wasThere {
		return document{}, errors.New("it is not there any more")
	}
	return parse(content)
}

// put adds an entry, or changes it.
func put[T item[T]](b *Book, entries map[string]entry[T], given T, version string, errNone error) error {
	name := given.name()
	old, isThere := entries[name]
	switch {
	case isThere && version == NoVersion:
		return ErrExists
	case !isThere && version != NoVersion && version != AnyVersion:
		return errNone
	case isThere && version != AnyVersion && version != versionOf(old):
		return ErrVersion
	case !isThere && len(entries) >= MaxEntries:
		return ErrMany
	}
	var kept *entry[T]
	if isThere {
		kept = &old
	}
	secret, err := admit(b, given, kept)
	if err != nil {
		return err
	}
	if secret.isPlain() {
		if b.o.Keys != nil {
			secret = b.o.Keys.seal(string(secret), given.destination())
		} else if !given.password().isKept() {
			return &EntryError{"password", ErrNoKey}
		}
	}
	entries[name] = entry[T]{given.with("", Secret{}, false, ""), secret}
	return nil
}

func remove[T item[T]](entries map[string]entry[T], name, version string, errNone error) error {
	old, ok := entries[name]
	switch {
	case !ok:
		return errNone
	case version != AnyVersion && version != versionOf(old):
		return ErrVersion
	}
	delete(entries, name)
	return nil
}
