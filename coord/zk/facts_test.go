package zk_test

import (
	"context"
	"crypto/tls"
	"errors"
	"testing"
	"time"

	zookeeper "github.com/go-zookeeper/zk"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/zk"
)

func factsOf(t *testing.T, r *zk.Registry) coord.StoreFacts {
	t.Helper()
	facts, err := r.Facts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return facts
}

func TestFacts(t *testing.T) {
	t.Parallel()
	server := secureServer(t)
	r := dial(t, zk.Config{Servers: []string{server.Addr(), nowhere(t)}, Namespace: "facts"})
	before := commit(t, r, coord.Put("a", nil))
	facts := factsOf(t, r)
	if facts.Product != "ZooKeeper" || facts.Reads != coord.Yes || facts.Writes != coord.Yes || len(facts.Members) != 2 {
		t.Fatalf("%+v", facts)
	}
	if m := facts.Members[0]; m.Version == "" || m.Why != "" || !m.Leads || m.Unsupported {
		t.Errorf("%+v", m)
	}
	if m := facts.Members[1]; m.Version != "" || m.Why == "" {
		t.Errorf("where nobody listens: %+v", m)
	}
	if after := commit(t, r, coord.Put("a", nil)); after <= before {
		t.Errorf("%d after %d", after, before)
	}
	if list, err := r.List(t.Context(), ""); err != nil || len(list) != 1 {
		t.Errorf("the questions have left something: %v, %v", list, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Facts(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}

	secure := dial(t, zk.Config{Servers: []string{server.TLSAddr()}, TLS: &tls.Config{RootCAs: server.Authority()}, DialTimeout: 30 * time.Second, RequestTimeout: 30 * time.Second})
	if m := factsOf(t, secure).Members[0]; m.Version == "" {
		t.Errorf("over TLS: %+v", m)
	}

	// A namespace that others may only read.
	raw := dialBare(t, server.Addr(), "")
	if _, err := raw.Create("/shown", nil, 0, zookeeper.WorldACL(zookeeper.PermRead)); err != nil {
		t.Fatal(err)
	}
	reader := dial(t, zk.Config{Servers: []string{server.Addr()}, Namespace: "shown"})
	if facts := factsOf(t, reader); facts.Reads != coord.Yes || facts.Writes != coord.No {
		t.Errorf("a reader: %+v", facts)
	}
}

// A server that has no srvr among its words, or is no ZooKeeper, tells no version.
func TestFactsThatAServerKeeps(t *testing.T) {
	for answer, want := range map[string]coord.MemberFacts{
		"srvr is not executed because it is not in the whitelist.\n": {Why: `srvr: "srvr is not executed because it is not in the whitelist.\n"`},
		"": {Why: `srvr: ""`},
		"Zookeeper version: 3.4.14-4c25d480, built on 03/06/2019\nMode: follower\n": {Version: "3.4.14", Unsupported: true},
		"Zookeeper version: 3.9.3-c26634f, built on 2024\nMode: leader\n":           {Version: "3.9.3", Leads: true},
	} {
		want.Address = "a:1"
		if got := zk.ReadServer("a:1", answer); got != want {
			t.Errorf("%q: %+v, want %+v", answer, got, want)
		}
	}
}
