package etcd_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
)

func TestWrongConfigNamesTheFieldAndWhatItMayBe(t *testing.T) {
	right := etcd.Config{Endpoints: []string{"127.0.0.1:1"}, Namespace: "n"}
	for _, c := range []struct {
		change func(*etcd.Config)
		names  []string
	}{
		{func(c *etcd.Config) { c.Endpoints = nil }, []string{"Endpoints", "127.0.0.1:2379"}},
		{func(c *etcd.Config) { c.Endpoints = []string{"127.0.0.1:1", "localhost"} }, []string{"Endpoints[1]", `"localhost": the port is missing`, "host:port"}},
		{func(c *etcd.Config) { c.Endpoints = []string{":1"} }, []string{"Endpoints[0]", "the host is missing", "host:port"}},
		{func(c *etcd.Config) { c.Endpoints = []string{"127.0.0.1:"} }, []string{"Endpoints[0]", "host:port"}},
		{func(c *etcd.Config) { c.Endpoints = []string{"http://127.0.0.1:1/v3"} }, []string{"Endpoints[0]", "Namespace has the path"}},
		{func(c *etcd.Config) { c.Endpoints = []string{"a:2379,b:2379"} }, []string{"Endpoints[0]", "each member is an item of the list"}},
		{func(c *etcd.Config) { c.Endpoints = []string{"a:2379\t"} }, []string{"Endpoints[0]", "there is a blank"}},
		{func(c *etcd.Config) { c.Endpoints = []string{"a:client"} }, []string{"Endpoints[0]", "1 to 65535"}},
		{func(c *etcd.Config) { c.Endpoints = []string{"http://root:s3cret@127.0.0.1:1"} }, []string{"Endpoints[0]", "Username"}},
		{func(c *etcd.Config) { c.Endpoints = []string{"etcd://127.0.0.1:1"} }, []string{"Endpoints[0]", "https://host:port"}},
		{func(c *etcd.Config) { c.Endpoints = []string{"http://a:1", "https://b:1"} }, []string{"Endpoints[1]", "same scheme"}},
		{func(c *etcd.Config) { c.Endpoints, c.TLS = []string{"http://a:1"}, &tls.Config{} }, []string{"Endpoints[0]", "TLS"}},
		{func(c *etcd.Config) { c.Namespace = "" }, []string{"Namespace", "empty"}},
		{func(c *etcd.Config) { c.Namespace = "/n" }, []string{"Namespace", `"/n"`}},
		{func(c *etcd.Config) { c.Namespace = "a//b" }, []string{"Namespace", `"a//b"`}},
		{func(c *etcd.Config) { c.SessionTimeout = -1 }, []string{"SessionTimeout", "10s", "24h"}},
		{func(c *etcd.Config) { c.SessionTimeout = 25 * time.Hour }, []string{"SessionTimeout", "24h"}},
		{func(c *etcd.Config) { c.DialTimeout = -1 }, []string{"DialTimeout", "5s"}},
		{func(c *etcd.Config) { c.RequestTimeout = -1 }, []string{"RequestTimeout", "5s"}},
		{func(c *etcd.Config) { c.SyncInterval = -1 }, []string{"SyncInterval", "never", "24h"}},
		{func(c *etcd.Config) { c.Username = "u" }, []string{"Username", "Password"}},
		{func(c *etcd.Config) { c.Password = "s3cret" }, []string{"Username", "Password"}},
		{func(c *etcd.Config) { c.Logger, c.Slog = zap.NewNop(), slog.Default() }, []string{"Logger", "Slog", "one of them"}},
	} {
		config := right
		c.change(&config)
		_, err := etcd.Dial(t.Context(), config)
		if !errors.Is(err, coord.ErrInvalidConfig) {
			t.Errorf("%v: got the error %v", c.names, err)
			continue
		}
		for _, name := range c.names {
			if !strings.Contains(err.Error(), name) {
				t.Errorf("the error %q does not say %q", err, name)
			}
		}
		if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("the error %q tells the password", err)
		}
	}
}

func TestNobodyListensAnywhere(t *testing.T) {
	t.Parallel()
	config := etcd.Config{Endpoints: []string{"127.0.0.1:1", "127.0.0.1:2"}, Namespace: "n", DialTimeout: time.Second}
	for _, user := range []string{"", "u"} {
		config.Username, config.Password = user, user
		_, err := etcd.Dial(t.Context(), config)
		if !errors.Is(err, coord.ErrUnavailable) {
			t.Errorf("got the error %v", err)
			continue
		}
		for _, name := range []string{"127.0.0.1:1", "127.0.0.1:2", "connection refused"} {
			if !strings.Contains(err.Error(), name) {
				t.Errorf("the error %q does not say %q", err, name)
			}
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	if _, err := etcd.Dial(ctx, config); !errors.Is(err, cause) {
		t.Errorf("got the error %v, want the cause of the context", err)
	}
}

func TestSlogIsTold(t *testing.T) {
	var log strings.Builder
	r, _ := dial(t, etcdserver.Start(t, etcdserver.Config{}), etcd.Config{Namespace: "shop", Slog: slog.New(slog.NewTextHandler(&log, nil))})
	id := session(t, r).ID()
	if err := r.Close(within(t)); err != nil { // nobody writes to the log any more
		t.Fatal(err)
	}
	if want := fmt.Sprintf(`level=INFO msg="session opened" namespace=shop session=%d`, id); !strings.Contains(log.String(), want) {
		t.Errorf("the log is %q, want %q", log.String(), want)
	}
}
