package mixed

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/internal/testserver/proxy"
	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
)

// zookeeper is a real store. Each process has a proxy of its own, so that it can be cut off.
type zookeeper struct {
	server    *zkserver.Server
	namespace string
	proxies   *[]*proxy.Proxy
}

func (z zookeeper) dial(_ string, session time.Duration, random *rand.Rand) (coord.Registry, link, error) {
	p, err := proxy.New(z.server.Addr())
	if err != nil {
		return nil, nil, err
	}
	*z.proxies = append(*z.proxies, p)
	config := zk.Config{Servers: []string{p.Addr()}, Namespace: z.namespace, SessionTimeout: session, DialTimeout: time.Minute}
	if random == nil {
		config.SessionTimeout = time.Minute // the operator's
	}
	registry, err := zk.Dial(context.Background(), config)
	return registry, p, err
}

func (z zookeeper) isSimulated() bool { return false }

func (z zookeeper) end() {
	for _, p := range *z.proxies {
		p.Close()
	}
}

// The same on a real store, in real time. The machine may be busy, so ticks are two seconds apart.
func TestMixedOnZooKeeper(t *testing.T) {
	t.Parallel()
	server := zkserver.Start(t, zkserver.Config{})
	short := setting{cron: "0/2 * * * * ?", ticks: 8, work: 20 * ms, session: 4 * time.Second}
	long := short
	long.work, long.failover = 700*ms, true
	var running sync.WaitGroup // all at once, whatever -parallel says: they mostly wait
	defer running.Wait()
	for _, s := range []scenario{
		{name: "no Go instance ever led", setting: short, begin: starting("j1", "g1", "j2", "g2"), leads: jvm},
		{name: "a Go instance leaves while items run", setting: long, begin: starting("j1", "g1", "g2"), leads: jvm, then: func(c *cluster) {
			c.ticks(1, 200*ms)
			c.member("g1").leave()
		}},
		{name: "a JVM is killed", setting: long, begin: starting("g1", "j1", "j2"), leads: golang, allowed: repeats, then: func(c *cluster) {
			c.ticks(1, 0)
			c.await("j1 works", 20*time.Second, func() bool {
				return len(c.ledger.listed(func(e *execution) bool {
					return e.member == "j1" && e.ending == runs && time.Since(e.begin) > 200*ms
				})) > 0
			})
			c.member("j1").kill()
		}},
		{name: "from a JVM to Go", setting: short, begin: starting("j1"), leads: jvm, then: handOver([]string{"g1"}, "j1")},
	} {
		running.Go(func() {
			t.Run(s.name, func(t *testing.T) {
				store := zookeeper{server: server, namespace: "mixed/" + strings.ReplaceAll(s.name, " ", "-"), proxies: new([]*proxy.Proxy)}
				var c count
				lost := stallsDuring(func() { c = s.run(t, store, *seed) })
				t.Logf("%s", titles)
				t.Logf("figures | %s | %s | %s", title("ZooKeeper"), s.name, &c)
				if lost > 400*ms {
					t.Logf("the machine stood still for %v: only what is left in the tree is checked", lost)
					s.allowed = everything
					s.allowed.leftBy = 0
				}
				s.check(t, *seed, c)
			})
		})
	}
}
