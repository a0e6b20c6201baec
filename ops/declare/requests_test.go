package declare_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobfile"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/declare"
)

// What reads something of each job of a namespace takes few requests.
func TestManyJobsTakeFewRequests(t *testing.T) {
	const jobs, most = 1000, 60
	server := etcdserver.Start(t, etcdserver.Config{})
	reg := open(t, func() (coord.Registry, error) {
		return etcd.Dial(t.Context(), etcd.Config{Endpoints: server.Endpoints(), Namespace: "many", SessionTimeout: calm, RequestTimeout: calm})
	})
	o := ops.New(reg)
	var d jobfile.Declarations
	for i := range jobs {
		c := job.Config{Name: fmt.Sprintf("com.example.settle-%d", i), Cron: "0 0 3 * * ?", ShardingTotalCount: 3}
		d.Jobs = append(d.Jobs, jobfile.InRegistry(c, "settle"))
	}
	request := declare.Request{Files: &d}
	apply(t, o, request)
	for name, read := range map[string]func() (int, error){
		"export": func() (int, error) {
			all, _, err := declare.Export(t.Context(), o, nil, nil)
			return len(all.Jobs), err
		},
		"plan": func() (int, error) { return plan(t, o, request).Count(declare.Unchanged), nil },
		"server": func() (int, error) {
			_, err := o.Server("10.9.9.9").Disable(t.Context())
			if errors.Is(err, ops.ErrNoServer) {
				return jobs, nil
			}
			return 0, err
		},
	} {
		before, err := server.Requests(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n, err := read(); err != nil || n != jobs {
			t.Errorf("%s: %d jobs, %v", name, n, err)
		}
		after, err := server.Requests(t.Context())
		if err != nil || after-before > most {
			t.Errorf("%s: %d requests, want at most %d; %v", name, after-before, most, err)
		}
	}
}
