package rights_test

import (
	"cmp"
	"context"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/internal/testserver/proxy"
	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/rights"
)

func identity(t *testing.T, digest string) zk.Identity {
	t.Helper()
	i, err := zk.DigestIdentity(digest)
	must(t, err)
	return i
}

func dialZK(t *testing.T, cfg zk.Config) *zk.Registry {
	t.Helper()
	cfg.SessionTimeout = cmp.Or(cfg.SessionTimeout, calm)
	cfg.DialTimeout, cfg.RequestTimeout = calm, calm
	reg, err := zk.Dial(within(t), cfg)
	must(t, err)
	closes(t, reg)
	return reg
}

func TestRolesOfZooKeeper(t *testing.T) {
	t.Parallel()
	server := zkserver.Start(t, zkserver.Config{})
	z := rights.ZooKeeper{Namespace: "prod/shop", Users: map[rights.Role]zk.Identity{
		rights.Reader: identity(t, "reader:secret 1"), rights.Worker: identity(t, "worker:secret:2"), rights.Operator: identity(t, "operator:secret 3"),
	}}
	dial := func(role rights.Role, digest string, addr string) *zk.Registry {
		t.Helper()
		grants, err := z.Grants(role)
		must(t, err)
		cfg := zk.Config{Servers: []string{addr}, Namespace: z.Namespace, Digest: digest, Grants: grants}
		if addr != server.Addr() {
			cfg.SessionTimeout = crashing
		}
		return dialZK(t, cfg)
	}
	// A namespace that was the operator's alone so far.
	before := dialZK(t, zk.Config{Servers: []string{server.Addr()}, Namespace: z.Namespace, Digest: "operator:secret 3"})
	must(t, ops.New(before).Create(within(t), ops.CreateRequest{Config: nightly()}))
	_, err := zk.Dial(within(t), zk.Config{Servers: []string{server.Addr()}, Namespace: z.Namespace, Digest: "reader:secret 1"})
	refused(t, err, z.Namespace)
	lines, err := z.Commands()
	must(t, err)
	if text := strings.Join(lines, "\n"); strings.Contains(text, "secret") {
		t.Errorf("a password in\n%s", text)
	}
	out, err := server.CLI(within(t), append([]string{"addauth digest 'operator:secret 3'"}, lines...)...)
	must(t, err)

	operator := dial(rights.Operator, "operator:secret 3", server.Addr())
	o := ops.New(operator).By("anna")
	link, err := proxy.New(server.Addr())
	must(t, err)
	t.Cleanup(link.Close)
	worker := dial(rights.Worker, "worker:secret:2", server.Addr())
	failovers := make(chan job.ShardingContext, 10)
	first := runs(t, dial(rights.Worker, "worker:secret:2", link.Addr()), nightly(), "10.0.0.2", works)
	second := runs(t, worker, nightly(), "10.0.0.1", func(ctx context.Context, sc job.ShardingContext) error {
		if sc.Source == job.SourceFailover {
			failovers <- sc
			return nil
		}
		return works(ctx, sc)
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
	owns(t, second, 2)
	operates(t, o)
	if faults := second.Status().Faults; len(faults) > 0 {
		t.Errorf("faults %v", faults)
	}
	reader := dial(rights.Reader, "reader:secret 1", server.Addr())
	cannotWrite(t, reader)

	// Each node has the whole matrix; nodes of ElasticJob's JVM members have their user alone.
	jvm := dialZK(t, zk.Config{Servers: []string{server.Addr()}, Namespace: z.Namespace, Digest: "worker:secret:2"})
	_, err = jvm.Commit(within(t), coord.Create("nightly/servers/10.0.0.9", []byte("ENABLED")))
	must(t, err)
	nodes := 0
	for g, err := range dialZK(t, zk.Config{Servers: []string{server.Addr()}, Namespace: z.Namespace, Digest: "operator:secret 3", OtherDigests: []string{"worker:secret:2"}}).ACLs(within(t), "") {
		must(t, err)
		nodes++
		isJVM := g.Path == "nightly/servers/10.0.0.9"
		for role, least := range map[rights.Role]zk.Permissions{rights.Reader: zk.Read, rights.Worker: zk.All &^ zk.Admin, rights.Operator: zk.All} {
			may := g.ACL.Of(z.Users[role])
			if role != rights.Worker && isJVM {
				least = 0
			}
			if may != least && (role != rights.Worker || may != zk.All) {
				t.Errorf("%s: a %s may %v: %v", g.Path, role, may, g.ACL)
			}
		}
	}
	if nodes < 20 {
		t.Errorf("%d nodes\n%s", nodes, out)
	}
	if _, err := worker.Get(within(t), "nightly/servers/10.0.0.9"); err != nil {
		t.Errorf("a node of a JVM member: %v", err)
	}
	_, err = reader.Get(within(t), "nightly/servers/10.0.0.9")
	refused(t, err, "nightly/servers/10.0.0.9")
}

func TestRolesWithoutUsers(t *testing.T) {
	if _, err := (rights.ZooKeeper{Namespace: "shop"}).Commands(); err == nil || !strings.Contains(err.Error(), "operator") {
		t.Errorf("no operator: %v", err)
	}
	if _, err := (rights.ZooKeeper{Namespace: "/shop"}).Grants(rights.Reader); err == nil {
		t.Error("a bad namespace")
	}
	one := rights.ZooKeeper{Namespace: `a"b`, Users: map[rights.Role]zk.Identity{rights.Operator: identity(t, "a:b")}}
	if _, err := one.Commands(); err == nil || !strings.Contains(err.Error(), "quote") {
		t.Errorf("a quote: %v", err)
	}
}
