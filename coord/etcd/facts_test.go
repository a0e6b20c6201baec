package etcd_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
)

func TestFacts(t *testing.T) {
	t.Parallel()
	server := etcdserver.Start(t, etcdserver.Config{Members: 3})
	r, links := dial(t, server, etcd.Config{RequestTimeout: 3 * time.Second})
	before := commit(t, r, coord.Put("a", nil))
	facts, err := r.Facts(within(t))
	if err != nil {
		t.Fatal(err)
	}
	if facts.Product != "etcd" || facts.Reads != coord.Yes || facts.Writes != coord.Yes || facts.Compacts != coord.Unknown || len(facts.Alarms) > 0 {
		t.Errorf("%+v", facts)
	}
	leaders := 0
	for i, m := range facts.Members {
		if m.Address != links[i].Addr() || m.Version == "" || m.Why != "" || m.Unsupported || m.Size == 0 || m.InUse == 0 || (m.Quota == 0) == tellsQuota(m) {
			t.Errorf("member %d: %+v", i, m)
		}
		if m.Leads {
			leaders++
		}
	}
	if leaders != 1 || len(facts.Members) != 3 {
		t.Errorf("%d of %d members lead", leaders, len(facts.Members))
	}
	if after := commit(t, r, coord.Put("a", nil)); after != before+1 {
		t.Errorf("the questions have written: revision %d, and %d after that", before, after)
	}

	// By default a server keeps its whole history. That is told when its database has become large: one that compacts
	// has not begun to when it is young.
	for inUse, want := range map[int64]coord.Answer{0: coord.Unknown, 200 << 20: coord.Unknown, 300 << 20: coord.No} {
		if got := r.Compacts(within(t), inUse); got != want {
			t.Errorf("with %d bytes in use, whether it compacts is %v, and not %v", inUse, got, want)
		}
	}

	// A member that is away, and a history that was dropped.
	links[1].Cut()
	if _, err := server.Admin().Compact(within(t), before); err != nil {
		t.Fatal(err)
	}
	facts, err = r.Facts(within(t))
	if err != nil {
		t.Fatal(err)
	}
	if m := facts.Members[1]; m.Version != "" || m.Why == "" {
		t.Errorf("the member that is away: %+v", m)
	}
	if facts.Members[0].Version == "" || facts.Compacts != coord.Yes || facts.Reads != coord.Yes {
		t.Errorf("%+v", facts)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Facts(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
}

// tellsQuota reports whether a member says how large its database may be: servers before 3.6 do not.
func tellsQuota(m coord.MemberFacts) bool { return !strings.HasPrefix(m.Version, "3.5.") }

// An alarm takes writes, not facts.
func TestFactsOfAFullStore(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{Quota: 2 << 20})
	r, _ := dial(t, server, etcd.Config{})
	value := []byte(strings.Repeat("x", 100<<10))
	for i := 0; ; i++ {
		_, err := r.Commit(within(t), coord.Put(fmt.Sprint("a/", i), value))
		if err != nil {
			break
		}
		if i > 1000 { // the server looks at the size now and then
			t.Fatal("100 MiB have room in 2")
		}
	}
	facts, err := r.Facts(within(t))
	if err != nil {
		t.Fatal(err)
	}
	const quota = 2 << 20
	if m := facts.Members[0]; tellsQuota(m) && m.Quota != quota || m.Size < quota*8/10 {
		t.Errorf("%+v", m)
	}
	if len(facts.Alarms) != 1 || !strings.Contains(facts.Alarms[0], "NOSPACE") {
		t.Errorf("alarms %q", facts.Alarms)
	}
}

// Each user learns what he may do, and the rest.
// Jobs of ElasticJob's own registry are told from other keys.
func TestFactsOfElasticJob(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{})
	r, _ := dial(t, server, etcd.Config{})
	commit(t, r, coord.Put("own/config", []byte("shardingTotalCount: 3\n")))
	for key, value := range map[string]string{
		"/report/config": "jobName: report\nshardingTotalCount: 1\n", "/settle/config": "jobName: settle\nshardingTotalCount: 1\n",
		"/settle/instances/a": "", "/settle-2/config/x": "shardingTotalCount: 1\n", "/registry/pods/a": "b", "//x": "", "/": "", "plain": "",
	} {
		if _, err := server.Admin().Put(within(t), key, value); err != nil {
			t.Fatal(err)
		}
	}
	facts, err := r.Facts(within(t))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(facts.ElasticJob, " "); got != "report settle" {
		t.Errorf("got %q", got)
	}
}

func TestFactsByUser(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{Auth: &etcdserver.Auth{User: "all", Password: "all", Prefix: "/test/"}})
	read, write := clientv3.PermissionType(clientv3.PermRead), clientv3.PermissionType(clientv3.PermReadWrite)
	for user, c := range map[string]struct {
		grants map[string]clientv3.PermissionType // by prefix; nil for a user who is there
		writes coord.Answer
	}{
		"all":    {nil, coord.Yes},
		"reader": {map[string]clientv3.PermissionType{"/test/": read}, coord.No},
		"worker": {map[string]clientv3.PermissionType{"/test/": read, "/test//sessions/": write, "/test/settle/": write}, coord.Yes},
	} {
		if c.grants != nil {
			addUser(t, server.Admin(), user, c.grants)
		}
		r, _ := dial(t, server, etcd.Config{Username: user, Password: user})
		facts, err := r.Facts(within(t))
		if err != nil {
			t.Fatal(err)
		}
		if facts.Reads != coord.Yes || facts.Writes != c.writes || facts.Members[0].Version == "" {
			t.Errorf("%s: %+v", user, facts)
		}
	}
}

// addUser adds a user whose password is its name, and a role of that name, with grants by prefixes that end with a slash.
func addUser(t *testing.T, admin *clientv3.Client, user string, grants map[string]clientv3.PermissionType) {
	t.Helper()
	ctx := within(t)
	_, err := admin.RoleAdd(ctx, user)
	for prefix, kind := range grants {
		if err == nil {
			_, err = admin.RoleGrantPermission(ctx, user, prefix, strings.TrimSuffix(prefix, "/")+"0", kind)
		}
	}
	if err == nil {
		_, err = admin.UserAdd(ctx, user, user)
	}
	if err == nil {
		_, err = admin.UserGrantRole(ctx, user, user)
	}
	if err != nil {
		t.Fatal(err)
	}
}
