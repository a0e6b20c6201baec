package etcd_test

import (
	"errors"
	"fmt"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
)

// A list of jobs, and what reads a node of each, take few requests, whatever the jobs' names are and however many nodes
// they have.
func TestManyTakeFewRequests(t *testing.T) {
	const jobs, items = 400, 10
	server := etcdserver.Start(t, etcdserver.Config{})
	for namespace, name := range map[string]func(int) string{
		"numbered":      func(i int) string { return fmt.Sprintf("com.example.billing.settlement-%05d", i) },
		"numbers-first": func(i int) string { return fmt.Sprintf("%d.settlement-of-accounts", i) },
		"words":         func(i int) string { return fmt.Sprintf("%x-and-words", uint32(i)*2654435761) },
		"alike":         func(i int) string { return fmt.Sprintf("settlement.%050b", i) },
	} {
		t.Run(namespace, func(t *testing.T) {
			r, _ := dial(t, server, etcd.Config{Namespace: namespace})
			var configs []string
			var ops []coord.Op
			for i := range jobs {
				job := name(i)
				configs = append(configs, job+"/config")
				ops = append(ops, coord.Put(job, []byte("demo")), coord.Put(job+"/config", []byte("{}")))
				for item := range items {
					ops = append(ops, coord.Put(fmt.Sprintf("%s/sharding/%d/instance", job, item), nil))
				}
				if i == jobs/2 {
					for item := items; item < coord.MaxOps*20; item++ {
						ops = append(ops, coord.Put(fmt.Sprintf("%s/sharding/%d/instance", job, item), nil))
					}
				}
				for len(ops) > coord.MaxOps || i == jobs-1 && len(ops) > 0 {
					now := min(len(ops), coord.MaxOps)
					commit(t, r, ops[:now]...)
					ops = ops[now:]
				}
			}
			requests := func() int {
				n, err := server.Requests(within(t))
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
			before := requests()
			nodes, err := r.List(within(t), "")
			listed := requests()
			if err != nil || len(nodes) != jobs || string(nodes[0].Value) != "demo" {
				t.Errorf("%d nodes, %v", len(nodes), err)
			}
			for n, err := range r.GetAll(within(t), configs) {
				if err != nil || string(n.Value) != "{}" {
					t.Fatalf("%+v, %v", n, err)
				}
			}
			if list, get := listed-before, requests()-listed; list > 20 || get > 5 {
				t.Errorf("the list took %d requests, and the configurations %d", list, get)
			}
		})
	}
}

// What may not be read keeps nobody from what may.
func TestGetAllOfWhatMayBeReadInPart(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{Auth: &etcdserver.Auth{User: "u", Password: "p", Prefix: "/test/"}})
	admin, ctx := server.Admin(), within(t)
	for _, step := range []func() error{
		func() error { _, err := admin.RoleAdd(ctx, "some"); return err },
		func() error { _, err := admin.UserAdd(ctx, "r", "p"); return err },
		func() error { _, err := admin.UserGrantRole(ctx, "r", "some"); return err },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{"/test/may/": "/test/may0", "/test/": "/test/0"} { // the second for its session
		if _, err := admin.RoleGrantPermission(ctx, "some", from, to, clientv3.PermissionType(clientv3.PermReadWrite)); err != nil {
			t.Fatal(err)
		}
	}
	writer, _ := dial(t, server, etcd.Config{Username: "u", Password: "p"})
	reader, _ := dial(t, server, etcd.Config{Username: "r", Password: "p"})
	var paths []string
	for i := range 40 {
		paths = append(paths, fmt.Sprintf("may/%d", i))
	}
	paths[13] = "not/13"
	for _, path := range paths {
		commit(t, writer, coord.Put(path, []byte(path)))
	}
	i := 0
	for n, err := range reader.GetAll(ctx, paths) {
		if i == 13 != errors.Is(err, coord.ErrDenied) || i != 13 && string(n.Value) != paths[i] {
			t.Errorf("%s: %+v, %v", paths[i], n, err)
		}
		i++
	}
	if i != len(paths) {
		t.Errorf("%d nodes came", i)
	}
}
