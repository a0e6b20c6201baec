package job_test

import (
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
)

// vandal is a store to which a test can write what coord does not allow: nodes below ephemeral
// ones, any name, and other nodes in place of ephemeral ones.
type vandal interface {
	write(t testing.TB, namespace, path, value string)
}

// etcdServer is a vandal, because etcd takes any key.
type etcdServer struct{ server }

func (s etcdServer) write(t testing.TB, namespace, path, value string) {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{s.addr}, Logger: zap.NewNop(), Context: t.Context()})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.Put(t.Context(), "/"+namespace+"/"+path, value); err != nil {
		t.Fatal(err)
	}
}

// onEtcd runs a test on etcd, with a vandal.
func onEtcd(t *testing.T, behaviour func(*testing.T, store, func(c *cluster, path, value string))) {
	t.Helper()
	t.Parallel()
	s := etcdStore(t)
	behaviour(t, s, func(c *cluster, path, value string) {
		c.Helper()
		s.(vandal).write(c, c.namespace, path, value)
	})
}

// litter writes nodes below others, if the store allows it.
func (c *cluster) litter(paths ...string) {
	c.Helper()
	v, anything := c.store.(vandal)
	for _, path := range paths {
		if anything {
			v.write(c, c.namespace, path, "litter")
			continue
		}
		if n, err := c.admin.Get(c.Context(), coord.Parent(path)); err != nil || !n.Ephemeral() {
			c.commit(coord.Put(path, []byte("litter")))
		}
	}
}
