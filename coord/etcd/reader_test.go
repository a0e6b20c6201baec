package etcd_test

import (
	"errors"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
)

// A user who may only read has a session without a key. It lasts, and its lease goes with it.
func TestUserWhoMayOnlyRead(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{Auth: &etcdserver.Auth{User: "u", Password: "p", Prefix: "/test/"}})
	admin, ctx := server.Admin(), within(t)
	for _, step := range []func() error{
		func() error { _, err := admin.RoleAdd(ctx, "reader"); return err },
		func() error {
			_, err := admin.RoleGrantPermission(ctx, "reader", "/test/", "/test0", clientv3.PermissionType(clientv3.PermRead))
			return err
		},
		func() error { _, err := admin.UserAdd(ctx, "r", "p"); return err },
		func() error { _, err := admin.UserGrantRole(ctx, "r", "reader"); return err },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	writer, _ := dial(t, server, etcd.Config{Username: "u", Password: "p"})
	reader, err := etcd.Dial(ctx, etcd.Config{Endpoints: server.Endpoints(), Namespace: "test", Username: "r", Password: "p", SessionTimeout: 15 * time.Second, RequestTimeout: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	s := session(t, reader)
	first := s.Deadline()
	v := open(t, reader, "a")
	commit(t, writer, coord.Put("a/b", nil))
	if !syncView(t, v).Exists("a/b") {
		t.Error("the view lacks what was committed")
	}
	for _, ops := range [][]coord.Op{{coord.Put("a/b", nil)}, {coord.CreateEphemeral("a/e", nil)}, {coord.Exists("a"), coord.Put("x", nil), coord.Set("a/b", nil)}} {
		_, err := reader.Commit(ctx, ops...)
		if !errors.Is(err, coord.ErrDenied) {
			t.Errorf("%v: %v", ops, err)
		}
	}
	renewed(t, s, first)
	if state, _ := s.State(); state != coord.Connected {
		t.Errorf("the session is %v", state)
	}
	v.Close()
	if err := reader.Close(ctx); err != nil {
		t.Error(err)
	}
	leases, err := admin.Leases(ctx)
	if err != nil || len(leases.Leases) != 1 {
		t.Errorf("%d leases, %v; want that of the writer", len(leases.Leases), err)
	}
}
