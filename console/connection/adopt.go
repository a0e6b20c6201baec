package connection

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

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
		sleep.For(b.life, wait)
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		if err := c.close(ctx); err != nil {
			b.o.Slog.Warn("a connection of before is not closed properly", "error", err)
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.farewells--
	})
}
