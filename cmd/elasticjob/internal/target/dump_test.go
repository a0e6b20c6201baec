package target

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job/dump"
)

// A process that is asked for a dump answers with it, or the command ends with the code of its refusal.
func TestDumpOf(t *testing.T) {
	const token = "0123456789abcdef"
	store := memory.NewStore(memory.Options{})
	t.Cleanup(store.Close)
	reg, err := store.Dial(t.Context(), memory.Config{Namespace: "dump"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reg.Close(context.Background()) }) // the store ends, too
	if _, err := reg.Commit(t.Context(), coord.Put("settle/servers/10.0.0.1", []byte("ENABLED"))); err != nil {
		t.Fatal(err)
	}
	service, err := dump.New(reg, dump.Schedulers{}, dump.Options{Token: token})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(service.Handler())
	defer server.Close()
	address := server.Listener.Addr().String()
	d, err := DumpOf(t.Context(), address, token, "settle")
	if err != nil || d.Nodes[len(d.Nodes)-1].Path != "settle/servers/10.0.0.1" {
		t.Errorf("%+v, %v", d, err)
	}
	soon, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	for name, tc := range map[string]struct {
		ctx                 context.Context
		address, token, job string
		want                exit.Code
		says                string
	}{
		"no job":         {t.Context(), address, token, "none", exit.NotFound, `the process says: dump: job "none": no such job`},
		"no token":       {t.Context(), address, "", "settle", exit.Denied, "a token is needed"},
		"no process":     {t.Context(), "127.0.0.1:1", token, "settle", exit.Unreachable, "connection refused"}, // a port that nobody is given
		"no address":     {t.Context(), "a b", token, "settle", exit.Usage, "--address"},
		"not in time":    {soon, address, token, "settle", exit.NotInTime, "deadline exceeded"},
		"another answer": {t.Context(), address, token, "..", exit.Failed, "the process says"},
	} {
		_, err := DumpOf(tc.ctx, tc.address, tc.token, tc.job)
		if err == nil || exit.Of(err) != tc.want || !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), token) {
			t.Errorf("%s: code %d, %v", name, exit.Of(err), err)
		}
	}
}
