package zk_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/zk"
)

func TestInvalidConfig(t *testing.T) {
	for _, tc := range []struct {
		name  string
		field string // and what else the error names
		spoil func(*zk.Config)
	}{
		{"no servers", "Servers is empty", func(c *zk.Config) { c.Servers = nil }},
		{"empty server", `Servers[1] is "": the host is missing`, func(c *zk.Config) { c.Servers = []string{"zk1:2181", ""} }},
		{"a user", "Servers[1] has a user", func(c *zk.Config) { c.Servers = []string{"zk1", "root:secret@zk1:2181"} }},
		{"no host", `Servers[0] is ":2181": the host is missing`, func(c *zk.Config) { c.Servers = []string{":2181"} }},
		{"no port after the colon", "1 to 65535", func(c *zk.Config) { c.Servers = []string{"zk1:"} }},
		{"port too high", "1 to 65535", func(c *zk.Config) { c.Servers = []string{"zk1:65536"} }},
		{"connect string", `"zk1:2181,zk2:2181": each server is an item of the list`, func(c *zk.Config) { c.Servers = []string{"zk1:2181,zk2:2181"} }},
		{"scheme", `"zk://zk1:2181": ZooKeeper's addresses have no scheme`, func(c *zk.Config) { c.Servers = []string{"zk://zk1:2181"} }},
		{"blank", `"zk1:2181 ": there is a blank`, func(c *zk.Config) { c.Servers = []string{"zk1:2181 "} }},
		{"IPv6", `"::1:2181:x": an IPv6 address with a port needs brackets`, func(c *zk.Config) { c.Servers = []string{"::1:2181:x"} }},
		{"chroot", `"zk1:2181/chroot": Namespace has the path`, func(c *zk.Config) { c.Servers = []string{"zk1:2181/chroot"} }},
		{"no namespace", "Namespace", func(c *zk.Config) { c.Namespace = "" }},
		{"absolute namespace", "Namespace", func(c *zk.Config) { c.Namespace = "/jobs" }},
		{"short session", "SessionTimeout is 500ms", func(c *zk.Config) { c.SessionTimeout = 500 * time.Millisecond }},
		{"long session", "SessionTimeout is 25h0m0s", func(c *zk.Config) { c.SessionTimeout = 25 * time.Hour }},
		{"negative dial", "DialTimeout is -1s", func(c *zk.Config) { c.DialTimeout = -time.Second }},
		{"negative request", "RequestTimeout is -1s", func(c *zk.Config) { c.RequestTimeout = -time.Second }},
		{"negative back-off", "MaxBackoff is -1s", func(c *zk.Config) { c.MaxBackoff = -time.Second }},
		{"digest without a password", "user:password", func(c *zk.Config) { c.Digest = "user" }},
		{"digest without a user", "user:password", func(c *zk.Config) { c.Digest = ":secret" }},
		{"other digest without a password", `OtherDigests[1] has to be "user:password"`, func(c *zk.Config) { c.Digest, c.OtherDigests = "user:secret", []string{"a:secret", "secret"} }},
		{"other digest alone", "need Digest", func(c *zk.Config) { c.OtherDigests = []string{"user:secret"} }},
		{"grants alone", "need Digest", func(c *zk.Config) { c.Grants = zk.ACL{{Identity: zk.Everybody(), Permissions: zk.Read}} }},
		{"grant of nothing", "Grants: ", func(c *zk.Config) { c.Digest, c.Grants = "user:secret", zk.ACL{{Identity: zk.Everybody()}} }},
		{"grant to a password", "Grants: ", func(c *zk.Config) {
			c.Digest, c.Grants = "user:secret", zk.ACL{{Identity: zk.Identity{Scheme: "digest", ID: "user:secret"}, Permissions: zk.Read}}
		}},
		{"two loggers", "Logger and Slog", func(c *zk.Config) { c.Logger, c.Slog = zap.NewNop(), slog.Default() }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg := zk.Config{Servers: []string{"127.0.0.1:2181"}, Namespace: "jobs"}
			tc.spoil(&cfg)
			r, err := zk.Dial(t.Context(), cfg)
			if err == nil {
				_ = r.Close(t.Context()) // the test has failed
			}
			if !errors.Is(err, coord.ErrInvalidConfig) || !strings.Contains(err.Error(), tc.field) {
				t.Errorf("got %v, want ErrInvalidConfig naming %q", err, tc.field)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error tells the password: %v", err)
			}
		})
	}
}

func TestSlogIsTold(t *testing.T) {
	var log strings.Builder
	r := dial(t, zk.Config{Namespace: "shop", Slog: slog.New(slog.NewTextHandler(&log, nil))})
	id := session(t, r).ID()
	if err := r.Close(t.Context()); err != nil { // nobody writes to the log any more
		t.Fatal(err)
	}
	if want := fmt.Sprintf(`level=INFO msg="session opened" namespace=shop session=%#x`, id); !strings.Contains(log.String(), want) {
		t.Errorf("the log is %q, want %q", log.String(), want)
	}
}
