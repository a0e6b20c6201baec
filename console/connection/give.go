package connection

import (
	"errors"
	"fmt"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

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
