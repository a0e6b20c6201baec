package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/coord/zk"
)

const (
	etcdStore      = "etcd"
	zookeeperStore = "zookeeper"

	namespace = "quickstart"

	// sessionTimeout is how long an instance that was killed seems alive. It is short for
	// the demonstration; most programs should use the default.
	sessionTimeout = 2 * time.Second

	dialTimeout = 10 * time.Second
)

// store says where the registry is.
type store struct {
	Kind    string   `json:"kind"`
	Servers []string `json:"servers"`
}

// dial is the only place where the choice of a store matters.
func (s store) dial(ctx context.Context, log *zap.Logger) (coord.Registry, error) {
	switch s.Kind {
	case etcdStore:
		return etcd.Dial(ctx, etcd.Config{Endpoints: s.Servers, Namespace: namespace, SessionTimeout: sessionTimeout, DialTimeout: dialTimeout, Logger: log})
	case zookeeperStore:
		return zk.Dial(ctx, zk.Config{Servers: s.Servers, Namespace: namespace, SessionTimeout: sessionTimeout, DialTimeout: dialTimeout, Logger: log})
	}
	return nil, fmt.Errorf("store %q: %s and %s are allowed", s.Kind, etcdStore, zookeeperStore)
}

func (s store) String() string { return s.Kind + " at " + strings.Join(s.Servers, ", ") }
