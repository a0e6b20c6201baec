package cluster

import (
	"context"

	"github.com/elasticjob-go/elasticjob/integration/worker"
)

// The stores that a cluster can stand on.
const (
	Etcd      = worker.Etcd
	ZooKeeper = worker.ZooKeeper
)

// Store is three servers, processes of their own, and what can be done to them. Members
// are numbered from 0. A method that does something to members returns when it is done.
type Store interface {
	// Kind is Etcd or ZooKeeper.
	Kind() string
	// Addresses are those of the members, for clients.
	Addresses() []string
	// Leader is the member that leads.
	Leader(ctx context.Context) (int, error)
	// Kill ends members as a crash would, all at once.
	Kill(members ...int) error
	// Restart starts members again that were killed, and waits until they serve.
	Restart(ctx context.Context, members ...int) error
	// Pause stops a member by a signal, Resume lets it go on.
	Pause(member int) error
	Resume(member int) error
	// MoveLeader makes another member lead, without ending any.
	MoveLeader(ctx context.Context) error
	// Forget makes the store drop its history and tidy up its files: compaction and
	// defragmentation of every member on etcd. ZooKeeper keeps no history that clients
	// could ask for, and tidies up when it starts: its members are restarted in turn.
	Forget(ctx context.Context) error
	// FillUp makes writes fail because the store has no space, and Free ends that. It is
	// the quota on etcd, which then raises an alarm. ZooKeeper's servers end themselves
	// when their disk is full: FillUp kills all of them, and Free starts them again.
	FillUp(ctx context.Context) error
	Free(ctx context.Context) error
	// FillDisk makes the files of a member grow no more, and waits until the member has
	// ended itself for that reason. It has to be restarted.
	FillDisk(ctx context.Context, member int) error
	// Save keeps a copy of what all members have on disk, in place of the one before;
	// they stand still meanwhile. PutBack ends all members, gives them the copy back, and
	// starts them again. Wipe does the same with nothing at all: a new store at the old
	// addresses.
	Save() error
	PutBack(ctx context.Context) error
	Wipe(ctx context.Context) error
	// Write writes a persistent node and the parents that it needs. It talks to the store
	// itself, so the rules of a registry do not hold. Erase removes a node and all below
	// it, if it is there.
	//
	// Errors: errors.ErrUnsupported for what the store cannot hold.
	Write(ctx context.Context, path string, value []byte) error
	Erase(ctx context.Context, path string) error
	// Replace writes a persistent node where another one is, in one step: nobody sees that
	// there is none.
	Replace(ctx context.Context, path string, value []byte) error
	// Login is the user that workers log in as, if the store asks for one.
	Login() (user, password string)
	// Revoke takes the permission to write below a path from the workers, and Grant gives
	// it back. On etcd, which must be one with users, the workers lose all permissions in
	// the whole store. Forbid writes a node that the workers may not read, which cannot be
	// done on etcd.
	Revoke(ctx context.Context, path string) error
	Grant(ctx context.Context, path string) error
	Forbid(ctx context.Context, path string) error
	// Sessions is how many sessions there are.
	Sessions(ctx context.Context) (int, error)
	// Close ends all members and removes their data.
	Close() error
}
