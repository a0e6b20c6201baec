package ops_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"testing"

	jobdump "github.com/elasticjob-go/elasticjob/job/dump"
	"github.com/elasticjob-go/elasticjob/ops"
)

// A job is dumped from the store, and by a process that runs it.
func TestDump(t *testing.T) {
	onEveryStore(t, func(t *testing.T, d dial) {
		const token = "for-this-test-only"
		s := runs(t, d, settle(), "10.0.0.1", nothing)
		owns(t, s, 3)
		reg := open(t, d)
		service, err := jobdump.New(reg, jobdump.Schedulers{s}, jobdump.Options{Token: token})
		if err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error)
		go func() { served <- service.Serve(ctx, l) }()
		defer func() {
			cancel()
			<-served // it ends with its context
		}()
		process := jobdump.Client{Address: l.Addr().String(), Token: token}
		all := ops.New(reg)
		for what, take := range map[string]func(j *ops.Job) (jobdump.Dump, error){
			"the store": func(j *ops.Job) (jobdump.Dump, error) { return j.Dump(ctx) },
			"a process": func(j *ops.Job) (jobdump.Dump, error) { return j.DumpOf(ctx, process) },
		} {
			got, err := take(all.Job("settle"))
			hasOwner := slices.ContainsFunc(got.Nodes, func(n jobdump.Node) bool { return n.Path == "settle/sharding/2/instance" })
			if err != nil || !hasOwner || (got.Status != nil) != (what == "a process") {
				t.Errorf("%s: %+v, %v", what, got, err)
			}
			if _, err := take(all.Job("other")); !errors.Is(err, ops.ErrNoJob) {
				t.Errorf("%s: no job: %v", what, err)
			}
		}
		process.Token = ""
		if _, err := all.Job("settle").DumpOf(ctx, process); !errors.Is(err, jobdump.ErrDenied) {
			t.Errorf("without the token: %v", err)
		}
	})
}
