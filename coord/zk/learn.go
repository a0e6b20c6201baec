package zk

import (
	"errors"
	"fmt"
	"slices"

	zookeeper "github.com/go-zookeeper/zk"

	"github.com/elasticjob-go/elasticjob/coord"
)

// knowledge is what a commit has read of the tree. Paths are full paths.
type knowledge struct {
	noGuesses bool                       // a guess was wrong, so everything is read
	stats     map[string]*zookeeper.Stat // of the nodes that were read; nil for one that does not exist
	trees     map[string][]string        // by root, the nodes to remove, children before their parents
}

// learn reads what a plan needs and cannot guess; with noGuesses, all that it needs.
func (r *Registry) learn(l limit, s *session, ops []coord.Op, known *knowledge) error {
	var asked []string
	ask := func(full string) {
		if _, ok := known.stats[full]; ok || slices.Contains(asked, full) {
			return
		}
		asked = append(asked, full)
	}
	askParents := func(full string) {
		for parent := parentOf(full); parent != "/" && known.noGuesses; parent = parentOf(parent) {
			ask(parent)
		}
	}
	for i, op := range ops {
		full := r.full(op.Path)
		switch op.Kind {
		case coord.OpOwned:
			ask(full)
		case coord.OpDeleteTree:
			err := r.learnTree(l, s, full, known)
			if errors.Is(err, zookeeper.ErrNoAuth) {
				return &coord.ConflictError{Index: i, Op: op, Reason: coord.ErrDenied}
			}
			if err != nil {
				return err
			}
			if len(known.trees[full]) == 0 {
				askParents(full)
			}
		case coord.OpPut:
			if known.noGuesses {
				ask(full)
			}
			askParents(full)
		case coord.OpCreate, coord.OpCreateEphemeral, coord.OpAbsent:
			askParents(full)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	stats := make([]*zookeeper.Stat, len(asked))
	err := each(l, s.conn, len(asked), func(client *zookeeper.Conn, i int) error {
		there, stat, err := client.Exists(asked[i])
		if err == nil && there {
			stats[i] = stat
		}
		return err
	})
	if err != nil {
		return err
	}
	if known.stats == nil {
		known.stats = make(map[string]*zookeeper.Stat, len(asked))
	}
	for i, full := range asked {
		known.stats[full] = stats[i]
	}
	return nil
}

// learnAtOnce is how many nodes of a tree are listed before their total size is checked.
const learnAtOnce = 256

// learnTree lists a node and everything below it.
func (r *Registry) learnTree(l limit, s *session, root string, known *knowledge) error {
	if _, ok := known.trees[root]; ok {
		return nil
	}
	// Without the sync a server that lags could say that there is no tree.
	_, err := call(l, s.conn, func(client *zookeeper.Conn) (string, error) { return client.Sync(root) })
	if err != nil {
		return err
	}
	var tree []string
	size := 0 // of the requests that remove them
	for unread := []string{root}; len(unread) > 0; {
		some := unread[:min(learnAtOnce, len(unread))]
		unread = unread[len(some):]
		children := make([][]string, len(some))
		exists := make([]bool, len(some))
		err := each(l, s.conn, len(some), func(client *zookeeper.Conn, i int) error {
			names, _, err := client.Children(some[i])
			if errors.Is(err, zookeeper.ErrNoNode) {
				return nil
			}
			exists[i] = err == nil
			children[i] = names
			return err
		})
		if err != nil {
			return err
		}
		for i, full := range some {
			if !exists[i] {
				continue
			}
			tree = append(tree, full)
			for _, name := range children[i] {
				child := full + "/" + name
				unread = append(unread, child)
				size += deleteSize(child)
			}
			if size > maxPacket {
				return fmt.Errorf("%w: below %s are at least %d nodes", coord.ErrTooLarge, r.relative(root), len(tree)+len(unread)-1)
			}
		}
	}
	slices.Reverse(tree)
	if known.trees == nil {
		known.trees = make(map[string][]string)
	}
	known.trees[root] = tree
	return nil
}

// each makes n requests on one connection, several at a time, and returns the first
// error.
func each(l limit, c *conn, n int, request func(*zookeeper.Conn, int) error) error {
	errs := make(chan error, n)
	started := 0
	for i := range n {
		if err := c.start(l, func(client *zookeeper.Conn) { errs <- request(client, i) }); err != nil {
			return err
		}
		started++
	}
	for range started {
		select {
		case err := <-errs:
			if err != nil {
				return err
			}
		case <-l.Done():
			return &unsentError{l.cause()} // a read changes nothing, so it counts as not sent
		case <-l.late:
			return &unsentError{l.cause()}
		}
	}
	return nil
}
