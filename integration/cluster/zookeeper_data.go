package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
)

func (z zooKeeper) Save() (err error) {
	all := []int{0, 1, 2}
	for _, i := range all {
		if err := z.Pause(i); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, z.Resume(i)) }()
	}
	return z.each(all, (*zkserver.Server).Save)
}

func (z zooKeeper) PutBack(ctx context.Context) error { return z.with(ctx, (*zkserver.Server).PutBack) }
func (z zooKeeper) Wipe(ctx context.Context) error    { return z.with(ctx, (*zkserver.Server).Wipe) }

// with ends all servers, changes the data of each, and starts them again.
func (z zooKeeper) with(ctx context.Context, change func(*zkserver.Server) error) error {
	all := []int{0, 1, 2}
	if err := z.Kill(all...); err != nil {
		return err
	}
	if err := z.each(all, change); err != nil {
		return err
	}
	return z.Restart(ctx, all...)
}

func (z zooKeeper) Login() (user, pass string) { return "", "" }

// external writer is the owner of nodes that the workers may not read.
const stranger = "stranger:secret"

var (
	everybody = zk.WorldACL(zk.PermAll)
	hisAlone  = zk.DigestACL(zk.PermAll, "stranger", "secret")
	readOnly  = append(zk.WorldACL(zk.PermRead), hisAlone...)
)

// as does something as the external writer. It dials each time, because servers that were put back
// refuse a client that has seen later changes than they have.
func (z zooKeeper) as(ctx context.Context, do func(*zk.Conn) error) error {
	const session = 30 * time.Second // longer than a machine stands still: what is done then is not done again
	conn, events, err := zk.Connect(z.Addresses(), session, zk.WithLogInfo(false), zk.WithLogger(silence{}))
	if err != nil {
		return fmt.Errorf("cluster: ZooKeeper client: %w", err)
	}
	defer conn.Close()
	for {
		select {
		case e := <-events:
			if e.State != zk.StateHasSession {
				continue
			}
		case <-ctx.Done():
			return fmt.Errorf("cluster: ZooKeeper client: %w", context.Cause(ctx))
		}
		break
	}
	if err := conn.AddAuth("digest", []byte(stranger)); err != nil {
		return fmt.Errorf("cluster: ZooKeeper client: %w", err)
	}
	return do(conn)
}

type silence struct{}

func (silence) Printf(string, ...any) {}

func (z zooKeeper) Write(ctx context.Context, path string, value []byte) error {
	return z.as(ctx, func(c *zk.Conn) error { return z.write(c, path, value, everybody) })
}

func (z zooKeeper) Forbid(ctx context.Context, path string) error {
	return z.as(ctx, func(c *zk.Conn) error { return z.write(c, path, nil, hisAlone) })
}

func (z zooKeeper) write(c *zk.Conn, path string, value []byte, acl []zk.ACL) error {
	// An instance may correct a parent before there is the child: then once more, but not for ever.
	const most = 1000
	err := z.writeOnce(c, path, value, acl)
	for n := 1; n < most && errors.Is(err, zk.ErrNoNode); n++ {
		err = z.writeOnce(c, path, value, acl)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, zk.ErrNoChildrenForEphemerals), errors.Is(err, zk.ErrInvalidPath), errors.Is(err, zk.ErrBadArguments):
		err = errors.ErrUnsupported
	}
	return fmt.Errorf("cluster: write %.200q: %w", path, err)
}

// writeOnce writes a node, and the parents that are not there.
func (z zooKeeper) writeOnce(c *zk.Conn, path string, value []byte, acl []zk.ACL) error {
	segments := strings.Split(path, "/")
	for i := range segments {
		node, content, permissions := "/"+strings.Join(segments[:i+1], "/"), []byte(nil), everybody
		isLast := i == len(segments)-1
		if isLast {
			content, permissions = value, acl
		}
		_, err := c.Create(node, content, 0, permissions)
		if errors.Is(err, zk.ErrNodeExists) {
			err = nil
			if isLast {
				_, err = c.Set(node, value, -1)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (z zooKeeper) Erase(ctx context.Context, path string) error {
	return z.as(ctx, func(c *zk.Conn) error { return z.erase(c, "/"+path) })
}

// Replace implements [Store]. If there is no node it writes one.
func (z zooKeeper) Replace(ctx context.Context, path string, value []byte) error {
	return z.as(ctx, func(c *zk.Conn) error {
		node := "/" + path
		_, err := c.Multi(&zk.DeleteRequest{Path: node, Version: -1}, &zk.CreateRequest{Path: node, Data: value, Acl: everybody})
		switch {
		case err == nil:
			return nil
		case errors.Is(err, zk.ErrNoNode):
			return z.write(c, path, value, everybody)
		}
		return fmt.Errorf("cluster: replace %.200q: %w", path, err)
	})
}

func (z zooKeeper) erase(c *zk.Conn, node string) error {
	children, _, err := c.Children(node)
	for _, child := range children {
		if err := z.erase(c, node+"/"+child); err != nil {
			return err
		}
	}
	if err == nil {
		err = c.Delete(node, -1)
	}
	if err != nil && !errors.Is(err, zk.ErrNoNode) && !errors.Is(err, zk.ErrInvalidPath) {
		return fmt.Errorf("cluster: erase %.200q: %w", node, err)
	}
	return nil
}

func (z zooKeeper) Revoke(ctx context.Context, path string) error {
	return z.as(ctx, func(c *zk.Conn) error { return z.permit(c, "/"+path, readOnly) })
}

func (z zooKeeper) Grant(ctx context.Context, path string) error {
	return z.as(ctx, func(c *zk.Conn) error { return z.permit(c, "/"+path, everybody) })
}

// permit gives all persistent nodes at a path the permissions.
func (z zooKeeper) permit(c *zk.Conn, node string, acl []zk.ACL) error {
	children, stat, err := c.Children(node)
	if err == nil && stat.EphemeralOwner == 0 {
		_, err = c.SetACL(node, slices.Clone(acl), -1)
	}
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cluster: permissions of %s: %w", node, err)
	}
	for _, child := range children {
		if err := z.permit(c, node+"/"+child, acl); err != nil {
			return err
		}
	}
	return nil
}
