//go:build unix

package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/job/script"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace/sqlfile"
)

func TestMain(m *testing.M) {
	script.Supervise()
	goleak.VerifyTestMain(m)
}

// The jobs of the file run, and the example ends.
func TestRun(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out bytes.Buffer // run has ended when it is read
	if err := run(ctx, script.Supervise(), &out, "elasticjob.yaml", 1); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"settle, item 0: OK, settled Beijing\n", "settle, item 2: OK, settled Guangzhou\n", "announce, item 1: OK, PUT /announce/Shanghai\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("there is no %q in\n%s", want, &out)
		}
	}
}

// A profile keeps the history in a database, and shows metrics.
func TestObserved(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address, file := listener.Addr().String(), filepath.Join(t.TempDir(), "history.db")
	if err := listener.Close(); err != nil { // the file's section gets its port
		t.Fatal(err)
	}
	t.Setenv("METRICS", address)
	t.Setenv("HISTORY", file)
	t.Setenv("ELASTICJOB_PROFILES", "observed")
	out := &scrape{url: "http://" + address + "/metrics"}
	if err := run(ctx, script.Supervise(), out, "elasticjob.yaml", 1); err != nil {
		t.Fatal(err)
	}
	if want := `elasticjob_store_requests_total{job_namespace="billing",operation="commit",result="ok"} `; out.err != nil || !strings.Contains(out.page, want) {
		t.Errorf("there is no %s in\n%s, %v", want, out.page, out.err)
	}
	db, dialect, err := sqlfile.OpenDatabase("sqlite:" + file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tracer, err := sqltrace.Open(db, dialect, sqltrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tracer.Close()
	if names, err := tracer.JobNames(ctx, "", 10); err != nil || !slices.Equal(names, []string{"announce", "settle"}) {
		t.Errorf("the history has %v, %v", names, err)
	}
}

// scrape reads the page of metrics once, when the program writes for the first time.
type scrape struct {
	url, page string
	err       error
}

func (s *scrape) Write(text []byte) (int, error) {
	if s.page == "" && s.err == nil {
		var answer *http.Response
		if answer, s.err = (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get(s.url); s.err == nil {
			defer answer.Body.Close()
			var page []byte
			page, s.err = io.ReadAll(answer.Body)
			s.page = string(page)
		}
	}
	return len(text), nil
}
