package rights_test

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
	"github.com/elasticjob-go/elasticjob/internal/testserver/proxy"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/rights"
)

const password = "secret"

// etcdctl does what lines for a shell do with etcdctl. The shell divides them into words.
func etcdctl(t *testing.T, admin *clientv3.Client, lines []string) {
	t.Helper()
	script := `etcdctl() { printf '%s\t' "$@"; echo; }` + "\n" + strings.Join(lines, "\n")
	out, err := exec.CommandContext(t.Context(), "/bin/sh", "-e", "-c", script).Output()
	must(t, err)
	for line := range bytes.Lines(out) {
		words := strings.Split(strings.TrimSuffix(string(line), "\t\n"), "\t")
		if err := etcdctlOnce(t.Context(), admin, words); err != nil {
			t.Fatalf("etcdctl %q: %v", words, err)
		}
	}
}

func etcdctlOnce(ctx context.Context, admin *clientv3.Client, words []string) (err error) {
	access := map[string]clientv3.PermissionType{"read": clientv3.PermissionType(clientv3.PermRead), "readwrite": clientv3.PermissionType(clientv3.PermReadWrite)}
	switch what, args := strings.Join(words[:2], " "), words[2:]; {
	case what == "role add" && len(args) == 1:
		_, err = admin.RoleAdd(ctx, args[0])
	case what == "role grant-permission" && len(args) == 4:
		_, err = admin.RoleGrantPermission(ctx, args[0], args[2], args[3], access[args[1]])
	case what == "user add" && len(args) == 1:
		_, err = admin.UserAdd(ctx, args[0], password) // which etcdctl would ask for
	case what == "user grant-role" && len(args) == 2:
		_, err = admin.UserGrantRole(ctx, args[0], args[1])
	default:
		err = errors.New("no such command")
	}
	if errors.Is(err, rpctypes.ErrRoleAlreadyExist) || errors.Is(err, rpctypes.ErrUserAlreadyExist) {
		return nil // as run again
	}
	return err
}

// etcdStore is a server whose namespace shop has the roles.
type etcdStore struct{ *etcdserver.Server }

func newEtcdStore(t *testing.T) etcdStore {
	t.Helper()
	server := etcdserver.Start(t, etcdserver.Config{Auth: &etcdserver.Auth{User: "other", Password: password, Prefix: "/other/"}})
	for _, e := range []rights.Etcd{
		{Namespace: "shop", Users: map[rights.Role][]string{rights.Reader: {"it's a reader"}, rights.Worker: {"worker"}, rights.Operator: {"$USER"}}},
		{Namespace: "shop", Name: "shop-nightly", Jobs: []string{"nightly", "weekly"}, Users: map[rights.Role][]string{rights.Worker: {"night worker"}}},
	} {
		lines, err := e.Commands()
		must(t, err)
		etcdctl(t, server.Admin(), lines)
		etcdctl(t, server.Admin(), lines)
	}
	return etcdStore{server}
}

func (s etcdStore) dial(t *testing.T, user, endpoint string) *etcd.Registry {
	t.Helper()
	session := crashing
	if endpoint == "" {
		endpoint, session = s.Endpoints()[0], calm
	}
	reg, err := etcd.Dial(within(t), etcd.Config{Endpoints: []string{endpoint}, Namespace: "shop", Username: user, Password: password, SessionTimeout: session, DialTimeout: calm, RequestTimeout: calm})
	must(t, err)
	closes(t, reg)
	return reg
}

func TestRolesOfEtcd(t *testing.T) {
	t.Parallel()
	s := newEtcdStore(t)
	operator := s.dial(t, "$USER", "")
	o := ops.New(operator).By("anna")
	must(t, o.Create(within(t), ops.CreateRequest{Config: nightly()}))

	t.Run("worker of named jobs", func(t *testing.T) {
		// It runs the job of an operator, also what another one could not finish.
		link, err := proxy.New(strings.TrimPrefix(s.Endpoints()[0], "http://"))
		must(t, err)
		t.Cleanup(link.Close)
		reg := s.dial(t, "night worker", "")
		failovers := make(chan job.ShardingContext, 10)
		first := runs(t, s.dial(t, "night worker", link.Addr()), nightly(), "10.0.0.1", works)
		second := runs(t, reg, nightly(), "10.0.0.2", func(_ context.Context, sc job.ShardingContext) error {
			failovers <- sc
			return nil
		})
		owns(t, second, 1)
		owns(t, first, 1)
		request, err := o.Job("nightly").Trigger(within(t), job.TriggerRequest{Items: first.Status().Items, Parameter: "hang"})
		must(t, err)
		await(t, first, "a run", func(s job.Status) bool { return len(s.Running) == 1 })
		link.Cut()
		t.Cleanup(link.Heal) // so that it ends in order
		if sc := <-failovers; sc.Item != request.Items[0] {
			t.Errorf("after a crash item %d ran", sc.Item)
		}
		if faults := second.Status().Faults; len(faults) > 0 {
			t.Errorf("faults %v", faults)
		}
		for _, ops := range [][]coord.Op{
			{coord.Set("nightly/config", nil)}, {coord.Put("nightly", nil)}, {coord.DeleteTree("nightly")}, {coord.Put("nightly2/x", nil)}, {coord.Put("settle/config", nil)},
			{coord.Put("~elasticjob/audit/x", nil)}, {coord.Put("~elasticjob/calendars/x", nil)}, {coord.Put("~elasticjob/removed/nightly", nil)},
			{coord.Put("weekly/x", nil), coord.Put("settle", nil)},
		} {
			_, err := reg.Commit(within(t), ops...)
			refused(t, err, ops[len(ops)-1].Path)
		}
		settle := nightly()
		settle.Name = "settle"
		_, err = job.Schedule(within(t), reg, settle, job.HandlerFunc(works))
		refused(t, err, "settle")
	})

	worker := s.dial(t, "worker", "")
	t.Run("worker", func(t *testing.T) {
		once := nightly()
		once.Name, once.Cron, once.Expiry = "once", "* * * * * ?", job.Expiry{Ticks: 1, Remove: true}
		<-runs(t, worker, once, "10.0.0.1", works).Done() // the job has come to its end, and was removed
		if _, err := worker.Get(within(t), "once"); !errors.Is(err, coord.ErrNoNode) {
			t.Errorf("get: %v", err)
		}
		for _, path := range []string{"~elasticjob/audit/x", "~elasticjob/calendars/x", "~other"} {
			_, err := worker.Commit(within(t), coord.Put(path, nil))
			refused(t, err, path)
		}
	})
	t.Run("operator", func(t *testing.T) {
		owns(t, runs(t, worker, nightly(), "10.0.0.1", works), 2)
		operates(t, o)
	})
	t.Run("reader", func(t *testing.T) {
		reader := s.dial(t, "it's a reader", "")
		cannotWrite(t, reader)
		// Nor can it end the sessions of others.
		client, err := clientv3.New(clientv3.Config{Endpoints: s.Endpoints(), Username: "it's a reader", Password: password, Logger: zap.NewNop()})
		must(t, err)
		defer client.Close()
		all, err := client.Get(within(t), "/shop//sessions/", clientv3.WithPrefix())
		must(t, err)
		if len(all.Kvs) == 0 {
			t.Fatal("nobody has a session")
		}
		for _, kv := range all.Kvs {
			if _, err := client.Delete(within(t), string(kv.Key)); !errors.Is(err, rpctypes.ErrPermissionDenied) {
				t.Errorf("delete of a session: %v", err)
			}
			if _, err := client.Revoke(within(t), clientv3.LeaseID(kv.Lease)); !errors.Is(err, rpctypes.ErrPermissionDenied) {
				t.Errorf("revoke of a session: %v", err)
			}
		}
	})
	must(t, o.Job("nightly").Remove(within(t), ops.RemoveRequest{}))
	for _, user := range []string{"$USER", "worker", "night worker", "it's a reader"} {
		_, err := etcd.Dial(within(t), etcd.Config{Endpoints: s.Endpoints(), Namespace: "other", Username: user, Password: password})
		refused(t, err, s.Endpoints()[0])
	}
}

func TestBadNames(t *testing.T) {
	for name, e := range map[string]rights.Etcd{
		"no namespace":     {},
		"namespace":        {Namespace: "/shop"},
		"name":             {Namespace: "shop", Name: "-x"},
		"namespace, dash":  {Namespace: "-shop"},
		"job":              {Namespace: "shop", Jobs: []string{"a/b"}},
		"user":             {Namespace: "shop", Users: map[rights.Role][]string{rights.Reader: {"reader:password"}}},
		"user, dash":       {Namespace: "shop", Users: map[rights.Role][]string{rights.Reader: {"--help"}}},
		"user, none":       {Namespace: "shop", Users: map[rights.Role][]string{rights.Reader: {""}}},
		"user, two lines":  {Namespace: "shop", Users: map[rights.Role][]string{rights.Reader: {"a\nb"}}},
		"user, very long ": {Namespace: "shop", Users: map[rights.Role][]string{rights.Reader: {strings.Repeat("a", 256)}}},
	} {
		if lines, err := e.Commands(); err == nil || len(err.Error()) > 200 {
			t.Errorf("%s: %q, %v", name, lines, err)
		}
	}
}

func TestLines(t *testing.T) {
	lines, err := rights.Etcd{Namespace: "shop", Jobs: []string{"nightly"}, Users: map[rights.Role][]string{rights.Worker: {"o'neil"}}}.Commands()
	must(t, err)
	want := []string{
		`etcdctl role add shop-reader`,
		`etcdctl role grant-permission shop-reader read /shop/ /shop0`,
		`etcdctl role add shop-worker`,
		`etcdctl role grant-permission shop-worker read /shop/ /shop0`,
		`etcdctl role grant-permission shop-worker readwrite /shop//sessions/ /shop//sessions0`,
		`etcdctl role grant-permission shop-worker readwrite '/shop/~elasticjob/nodes/' '/shop/~elasticjob/nodes0'`,
		`etcdctl role grant-permission shop-worker readwrite /shop/nightly/ /shop/nightly/config`,
		`etcdctl role grant-permission shop-worker readwrite /shop/nightly/config0 /shop/nightly0`,
		`etcdctl user add 'o'\''neil'`,
		`etcdctl user grant-role 'o'\''neil' shop-worker`,
		`etcdctl role add shop-operator`,
		`etcdctl role grant-permission shop-operator readwrite /shop/ /shop0`,
	}
	if !slices.Equal(lines, want) {
		t.Errorf("got\n%s", strings.Join(lines, "\n"))
	}
}
