package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

func (s *etcdStore) Save() (err error) {
	folders := map[string]string{}
	for i, m := range s.members {
		if err := s.Pause(i); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Resume(i)) }()
		folders[m.folder] = s.folder.at(m.name + ".saved")
	}
	return copyFolders(folders)
}

func (s *etcdStore) PutBack(ctx context.Context) error {
	folders := map[string]string{}
	for _, m := range s.members {
		folders[s.folder.at(m.name+".saved")] = m.folder
	}
	if err := s.Kill(0, 1, 2); err != nil {
		return err
	}
	if err := copyFolders(folders); err != nil {
		return err
	}
	return s.Restart(ctx, 0, 1, 2)
}

func (s *etcdStore) Wipe(ctx context.Context) error {
	if err := s.Kill(0, 1, 2); err != nil {
		return err
	}
	for _, m := range s.members {
		if err := os.RemoveAll(m.folder); err != nil {
			return fmt.Errorf("cluster: %w", err)
		}
	}
	if err := s.Restart(ctx, 0, 1, 2); err != nil {
		return err
	}
	return s.open(ctx)
}

// copyFolders copies each folder that is a key to the folder that is its value, and replaces
// what was there. It may copy the data of a process that stands still: the copy is what that
// process would find after a crash.
func copyFolders(folders map[string]string) error {
	for from, to := range folders {
		if err := os.RemoveAll(to); err != nil {
			return fmt.Errorf("cluster: %w", err)
		}
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			return fmt.Errorf("cluster: copy %s: %w", from, err)
		}
	}
	return nil
}

// All users have the same password.
const (
	rootUser   = "root"
	workerUser = "worker"
	password   = "open sesame"
)

func (s *etcdStore) addUsers(ctx context.Context) error {
	c, err := s.client(ctx, false, s.Addresses()...)
	if err != nil {
		return err
	}
	defer c.Close()
	do := func(step string, f func() error) {
		if err == nil {
			if err = f(); err != nil {
				err = fmt.Errorf("cluster: %s of etcd: %w", step, err)
			}
		}
	}
	for _, name := range []string{rootUser, workerUser} {
		do("user "+name, func() error { _, err := c.UserAdd(ctx, name, password); return err })
		do("role "+name, func() error { _, err := c.RoleAdd(ctx, name); return err })
		do("role of user "+name, func() error { _, err := c.UserGrantRole(ctx, name, name); return err })
	}
	do("permission", func() error { return grant(ctx, c) })
	do("start of the users", func() error { _, err := c.AuthEnable(ctx); return err })
	return err
}

// The workers' permission is for all namespaces, whose keys begin with this.
const keysFrom = "/"

func keysTo() string { return clientv3.GetPrefixRangeEnd(keysFrom) }

func grant(ctx context.Context, c *clientv3.Client) error {
	_, err := c.RoleGrantPermission(ctx, workerUser, keysFrom, keysTo(), clientv3.PermissionType(clientv3.PermReadWrite))
	return err
}

func (s *etcdStore) Login() (user, pass string) {
	if s.users {
		return workerUser, password
	}
	return "", ""
}

func (s *etcdStore) Revoke(ctx context.Context, _ string) error {
	if !s.users {
		return fmt.Errorf("cluster: revoke in an etcd without users: %w", errors.ErrUnsupported)
	}
	err := patiently(ctx, func() error {
		_, err := s.admin.RoleRevokePermission(ctx, workerUser, keysFrom, keysTo())
		return err
	})
	if err != nil && !errors.Is(err, rpctypes.ErrPermissionNotGranted) { // an earlier attempt may have done it
		return fmt.Errorf("cluster: revoke: %w", err)
	}
	return nil
}

func (s *etcdStore) Grant(ctx context.Context, _ string) error {
	if err := patiently(ctx, func() error { return grant(ctx, s.admin) }); err != nil {
		return fmt.Errorf("cluster: grant: %w", err)
	}
	return nil
}

func (s *etcdStore) Forbid(context.Context, string) error {
	return fmt.Errorf("cluster: a node that only somebody else may read: %w", errors.ErrUnsupported)
}

func (s *etcdStore) Write(ctx context.Context, path string, value []byte) error {
	if err := patiently(ctx, func() error {
		_, err := s.admin.Put(ctx, keysFrom+path, string(value))
		return err
	}); err != nil {
		return fmt.Errorf("cluster: write %.200q: %w", path, err)
	}
	return nil
}

// Replace implements [Store]. A key that is put without a lease loses the one that it had.
func (s *etcdStore) Replace(ctx context.Context, path string, value []byte) error {
	return s.Write(ctx, path, value)
}

func (s *etcdStore) Erase(ctx context.Context, path string) error {
	key := keysFrom + path
	if err := patiently(ctx, func() error {
		_, err := s.admin.Txn(ctx).Then(clientv3.OpDelete(key), clientv3.OpDelete(strings.TrimSuffix(key, "/")+"/", clientv3.WithPrefix())).Commit()
		return err
	}); err != nil {
		return fmt.Errorf("cluster: erase %.200q: %w", path, err)
	}
	return nil
}
