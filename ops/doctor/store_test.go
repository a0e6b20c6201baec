package doctor_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops/doctor"
)

// telling is a registry whose store tells something of itself.
type telling struct {
	coord.Registry
	coord.Inspector
	facts coord.StoreFacts
}

func (r telling) Facts(context.Context) (coord.StoreFacts, error) { return r.facts, nil }

// storePlanting changes what a store in good health tells.
type storePlanting struct {
	change func(*coord.StoreFacts)
	want   []doctor.Kind
	worst  doctor.Severity
}

// Each kind of finding about a store.
func TestStorePlanted(t *testing.T) {
	for name, c := range storePlantings() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inGoodHealth(t, func(f *fixture) {
				well := coord.MemberFacts{Address: "a:1", Version: "3.6.20", Size: 10, InUse: 10, Quota: 100}
				facts := coord.StoreFacts{Product: "etcd", Members: []coord.MemberFacts{well}, Compacts: coord.Unknown, Reads: coord.Yes, Writes: coord.Yes}
				c.change(&facts)
				f.tells = &facts
				if r := f.finds(c.want...); r.Worst() != c.worst || r.Looks != 1 {
					t.Errorf("the worst is %v, after %d looks", r.Worst(), r.Looks)
				}
			})
		})
	}
}

func storePlantings() map[string]storePlanting {
	return map[string]storePlanting{
		"nothing":                   {func(*coord.StoreFacts) {}, nil, 0},
		"alarm":                     {func(f *coord.StoreFacts) { f.Alarms = []string{"memberID:1 alarm:NOSPACE"} }, []doctor.Kind{doctor.StoreAlarm}, doctor.Critical},
		"ElasticJob's own registry": {func(f *coord.StoreFacts) { f.ElasticJob = []string{"settle", "report"} }, []doctor.Kind{doctor.StoreElasticJob}, doctor.Warning},
		"keeps history":             {func(f *coord.StoreFacts) { f.Compacts = coord.No }, []doctor.Kind{doctor.StoreKeepsHistory}, doctor.Warning},
		"may not read":              {func(f *coord.StoreFacts) { f.Reads, f.Writes = coord.No, coord.No }, []doctor.Kind{doctor.RightsMissing}, doctor.Critical},
		"may not write":             {func(f *coord.StoreFacts) { f.Writes = coord.No }, []doctor.Kind{doctor.RightsMissing}, doctor.Info},
		"away": {func(f *coord.StoreFacts) {
			f.Members[0] = coord.MemberFacts{Address: "a:1", Why: "no answer", Silent: true}
		}, []doctor.Kind{doctor.StoreMemberAway}, doctor.Warning},
		"not well":       {func(f *coord.StoreFacts) { f.Members[0].Why = "no leader" }, []doctor.Kind{doctor.StoreMemberAway}, doctor.Warning},
		"keeps silent":   {func(f *coord.StoreFacts) { f.Members[0] = coord.MemberFacts{Address: "a:1", Why: "denied"} }, []doctor.Kind{doctor.StoreUnknown}, doctor.Info},
		"unsupported":    {func(f *coord.StoreFacts) { f.Members[0].Version, f.Members[0].Unsupported = "3.4.1", true }, []doctor.Kind{doctor.StoreOld}, doctor.Critical},
		"with defects":   {func(f *coord.StoreFacts) { f.Members[0].Mended = "3.6.30" }, []doctor.Kind{doctor.StoreOld}, doctor.Warning},
		"rather full":    {func(f *coord.StoreFacts) { f.Members[0].Size = 80 }, []doctor.Kind{doctor.StoreNearQuota}, doctor.Warning},
		"full":           {func(f *coord.StoreFacts) { f.Members[0].Size, f.Members[0].InUse = 95, 95 }, []doctor.Kind{doctor.StoreNearQuota}, doctor.Critical},
		"no quota known": {func(f *coord.StoreFacts) { f.Members[0].Size, f.Members[0].Quota = 95, 0 }, nil, 0},
		"several members": {func(f *coord.StoreFacts) {
			f.Members = append(f.Members, coord.MemberFacts{Address: "b:1", Why: "no answer", Silent: true}, coord.MemberFacts{Address: "c:1", Why: "no answer", Silent: true})
		}, []doctor.Kind{doctor.StoreMemberAway, doctor.StoreMemberAway}, doctor.Warning},
	}
}

// calm bounds sessions and requests: by their defaults of some seconds a session would be lost, and a
// request would fail, when the machine stands still.
const calm = time.Minute

// awaitFindings examines a real store until the findings are as wanted.
func awaitFindings(t *testing.T, reg coord.Registry, want ...doctor.Kind) doctor.Report {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for {
		report, err := doctor.Examine(ctx, reg, doctor.Options{Wait: 200 * time.Millisecond})
		if err != nil {
			t.Fatalf("%v; want %q, found %v", err, want, report.Findings)
		}
		if fmt.Sprint(kinds(report)) == fmt.Sprint(want) {
			return report
		}
	}
}

func kinds(r doctor.Report) []doctor.Kind {
	var list []doctor.Kind
	for _, found := range r.Findings {
		list = append(list, found.Kind)
	}
	return list
}

// closes closes a registry at the end of the test.
func closes(t *testing.T, reg coord.Registry, err error) coord.Registry {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = reg.Close(ctx) // the store may take no writes
	})
	return reg
}

// runs runs a job that is well, until the function that it returns is called.
func runs(t *testing.T, reg coord.Registry) (end func()) {
	t.Helper()
	s, err := job.Schedule(t.Context(), reg, job.Config{Name: "settle", Cron: "* * * * * ?", ShardingTotalCount: 3}, job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }))
	if err != nil {
		t.Fatal(err)
	}
	end = func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil && !errors.Is(err, coord.ErrClosed) {
			t.Error(err)
		}
	}
	t.Cleanup(end)
	return end
}

// On etcd: a job that is well, one without a process, a user who may only read, and a full database.
func TestOnEtcd(t *testing.T) {
	server, err := etcdserver.Run(t.Context(), etcdserver.Config{Quota: 4 << 20, Auth: &etcdserver.Auth{User: "all", Password: "all", Prefix: "/"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	address := strings.TrimPrefix(server.Endpoints()[0], "http://")
	reg, err := etcd.Dial(t.Context(), etcd.Config{Endpoints: []string{address}, Namespace: "test", Username: "all", Password: "all", SessionTimeout: calm, DialTimeout: calm, RequestTimeout: calm})
	closes(t, reg, err)
	end := runs(t, reg)
	if r := awaitFindings(t, reg); r.Store == nil || r.Store.Product != "etcd" || r.Store.Members[0].Quota != 4<<20 || r.Jobs != 1 {
		t.Errorf("%+v", r)
	}
	end()
	awaitFindings(t, reg, doctor.NoInstance)
	if _, err := server.Admin().Put(t.Context(), "/test/settle/instances/a\x01b", ""); err != nil {
		t.Fatal(err)
	}
	awaitFindings(t, reg, doctor.NoInstance, doctor.UnusableName)
	// A name that no path can have: the rest of the namespace is examined all the same.
	for _, key := range []string{"/test/a\x1b[31m/config", "/test/a\x1b[31m/sharding/0"} {
		if _, err := server.Admin().Put(t.Context(), key, ""); err != nil {
			t.Fatal(err)
		}
	}
	awaitFindings(t, reg, doctor.NoInstance, doctor.UnusableName, doctor.UnusableName)
	if _, err := server.Admin().Delete(t.Context(), "/test/a\x1b[31m/", clientv3.WithPrefix()); err != nil {
		t.Fatal(err)
	}
	value := []byte(strings.Repeat("x", 100<<10))
	for err = nil; err == nil; _, err = reg.Commit(t.Context(), coord.Put("settle/cursor/0", value)) {
	}
	r := awaitFindings(t, reg, doctor.StoreAlarm, doctor.StoreNearQuota, doctor.NoInstance, doctor.UnusableName)
	if r.Findings[1].Severity != doctor.Critical {
		t.Errorf("%v", r.Findings)
	}
}

// Jobs of ElasticJob's own registry for etcd are named, and none of their instances is taken for a member of a job here:
// neither of the job of that name, nor if the name is that of the namespace.
func TestElasticJobOnEtcd(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{})
	address := strings.TrimPrefix(server.Endpoints()[0], "http://")
	reg, err := etcd.Dial(t.Context(), etcd.Config{Endpoints: []string{address}, Namespace: "test", SessionTimeout: calm, DialTimeout: calm, RequestTimeout: calm})
	closes(t, reg, err)
	end := runs(t, reg)
	defer end()
	awaitFindings(t, reg)
	foreign := func(name string) {
		for path, value := range map[string]string{
			"": "com.example.Settle", "/config": "cron: 0/5 * * * * ?\njobName: " + name + "\nshardingTotalCount: 2\n",
			"/servers/10.0.0.7": "ENABLED", "/instances/10.0.0.7@-@7": "jobInstanceId: 10.0.0.7@-@7\nserverIp: 10.0.0.7\n",
			"/leader/election/instance": "10.0.0.7@-@7", "/sharding/0/running": "10.0.0.7@-@7",
		} {
			if _, err := server.Admin().Put(t.Context(), "/"+name+path, value); err != nil {
				t.Fatal(err)
			}
		}
	}
	foreign("settle")
	report := awaitFindings(t, reg, doctor.StoreElasticJob)
	if found := report.Findings[0]; report.Jobs != 1 || !strings.Contains(found.Cause, `settle`) {
		t.Errorf("%d jobs: %v", report.Jobs, found)
	}
	foreign("test")
	report = awaitFindings(t, reg, doctor.StoreElasticJob, doctor.NoJob)
	if found := report.Findings[0]; !strings.Contains(found.Cause, `"settle", "test"`) {
		t.Errorf("%v", found)
	}
}

// On ZooKeeper: a job that is well, one without a process, and a server that is away.
func TestOnZooKeeper(t *testing.T) {
	zkserver.Require(t)
	server, err := zkserver.Run(t.Context(), zkserver.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	reg, err := zk.Dial(t.Context(), zk.Config{Servers: []string{server.Addr()}, Namespace: "test", SessionTimeout: calm, DialTimeout: calm, RequestTimeout: calm})
	closes(t, reg, err)
	end := runs(t, reg)
	if r := awaitFindings(t, reg); r.Store == nil || r.Store.Members[0].Version == "" || r.Jobs != 1 {
		t.Errorf("%+v", r)
	}
	end()
	awaitFindings(t, reg, doctor.NoInstance)
	away, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	away.Close()
	other, err := zk.Dial(t.Context(), zk.Config{Servers: []string{server.Addr(), away.Addr().String()}, Namespace: "other", SessionTimeout: calm, DialTimeout: calm, RequestTimeout: calm})
	awaitFindings(t, closes(t, other, err), doctor.StoreMemberAway)
}
