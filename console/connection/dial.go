package connection

import (
	"context"
	"errors"
	"fmt"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job/property"
)

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

// errPassword: a password cannot be read, whatever the server would say of it.
var errPassword = errors.New("password")

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
		return "", fmt.Errorf("%w: %w", errPassword, err)
	}
	return password, nil
}
