package zk

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	zookeeper "github.com/go-zookeeper/zk"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Guarded is a node with its access list.
type Guarded struct {
	Path    string // "" is the namespace's own node
	ACL     ACL
	Version int64           // of the list, for [Registry.SetACL]
	Owner   coord.SessionID // 0 unless the node is ephemeral
	// Denied says why the list, or what is below the node, cannot be read; nil if it can. Then
	// ACL may be missing, or lack its hashes, which servers show only to who has Admin.
	Denied error
}

// ACLs reads the access lists of a node and of everything below it, parents before their
// children; "" is the whole namespace. It reads 128 at once and holds what it has not read yet
// by path. A node that is created or removed meanwhile may come or not. A node whose list may
// not be seen comes with Denied, and the sequence goes on. Any other error is the last that
// comes, with the zero Guarded.
func (r *Registry) ACLs(ctx context.Context, path string) iter.Seq2[Guarded, error] {
	return func(yield func(Guarded, error) bool) {
		if err := coord.ValidateRoot(path); err != nil {
			yield(Guarded{}, fmt.Errorf("zk: access lists: %w", err))
			return
		}
		if err := r.acls(ctx, path, func(g Guarded) bool { return yield(g, nil) }); err != nil {
			yield(Guarded{}, fmt.Errorf("zk: access lists: %w", convertError(err, path)))
		}
	}
}

func (r *Registry) acls(ctx context.Context, path string, yield func(Guarded) bool) error {
	if _, err := read(r.limit(ctx), r, func(client *zookeeper.Conn) (string, error) { return client.Sync(r.full(path)) }); err != nil {
		return err
	}
	// The last that was found is read first, so that only one branch is held.
	for unread := []string{path}; len(unread) > 0; {
		page := unread[max(0, len(unread)-walkPage):]
		guarded, names := make([]Guarded, len(page)), make([][]string, len(page))
		err := r.parallel(ctx, listers, len(page), func(client *zookeeper.Conn, i int) (err error) {
			guarded[i], names[i], err = r.guardedOnce(client, page[i])
			return err
		})
		if err != nil {
			return err
		}
		unread = unread[:len(unread)-len(page)]
		for i, g := range guarded {
			for _, name := range names[i] {
				unread = append(unread, coord.Join(g.Path, name))
			}
		}
		for _, g := range guarded {
			if (g.ACL != nil || g.Denied != nil) && !yield(g) {
				return nil
			}
		}
	}
	return nil
}

// guardedOnce reads the list of a node and the names of its children. There is neither a list
// nor a denial if there is no node.
func (r *Registry) guardedOnce(client *zookeeper.Conn, path string) (Guarded, []string, error) {
	g := Guarded{Path: path}
	denied := func(err error) (Guarded, []string, error) {
		if errors.Is(err, zookeeper.ErrNoAuth) {
			g.Denied = convertError(err, r.full(path))
			return g, nil, nil
		}
		if errors.Is(err, zookeeper.ErrNoNode) {
			return g, nil, nil // it was removed meanwhile
		}
		return g, nil, err
	}
	acl, stat, err := client.GetACL(r.full(path))
	if err != nil {
		return denied(err)
	}
	g.ACL, g.Version, g.Owner = newACL(acl), int64(stat.Aversion), coord.SessionID(stat.EphemeralOwner)
	if slices.ContainsFunc(g.ACL, isMasked) {
		g.Denied = fmt.Errorf("%s: %w: only who has Admin sees the access list", r.full(path), coord.ErrDenied)
	}
	if stat.NumChildren == 0 {
		return g, nil, nil
	}
	names, _, err := client.Children(r.full(path))
	if err != nil {
		return denied(err)
	}
	return g, names, nil
}

// isMasked reports whether a server has put an x in the place of a hash.
func isMasked(e Entry) bool { return e.Scheme == "digest" && strings.HasSuffix(e.ID, ":x") }

// SetACL replaces the access list of a node whose list has the version.
//
// Errors: [coord.ErrNoNode]; [coord.ErrVersion]; [coord.ErrDenied] for who has not Admin;
// [coord.ErrInvalidConfig] for a bad entry; [coord.ErrUnknownOutcome].
func (r *Registry) SetACL(ctx context.Context, path string, acl ACL, version int64) error {
	if err := coord.ValidateRoot(path); err != nil {
		return fmt.Errorf("zk: set access list: %w", err)
	}
	if len(acl) == 0 {
		return fmt.Errorf("zk: set access list of %s: %w: it has no entries", r.full(path), coord.ErrInvalidConfig)
	}
	if err := acl.check(); err != nil {
		return fmt.Errorf("zk: set access list of %s: %w: %w", r.full(path), coord.ErrInvalidConfig, err)
	}
	if err := r.setACL(ctx, path, acl.native(), version); err != nil {
		return fmt.Errorf("zk: set access list of %w", convertError(err, r.full(path)))
	}
	return nil
}

func (r *Registry) setACL(ctx context.Context, path string, acl []zookeeper.ACL, at int64) error {
	l := r.limit(ctx)
	s, err := r.awaitSession(l)
	if err != nil {
		return err
	}
	_, err = call(l, s.conn, func(client *zookeeper.Conn) (*zookeeper.Stat, error) {
		return client.SetACL(r.full(path), acl, version(at))
	})
	if err != nil && !wasAnswered(err) {
		return fmt.Errorf("%w: %w", coord.ErrUnknownOutcome, err)
	}
	return err
}

// Identities returns the identities of the digests with which the registry logs in.
func (r *Registry) Identities() []Identity {
	var all []Identity
	for _, digest := range r.config.digests() {
		if i, err := DigestIdentity(digest); err == nil { // Dial has checked it
			all = append(all, i)
		}
	}
	return all
}
