package api

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// endless is a history with as many executions as anybody wants, which fails after some of them.
type endless struct {
	history.Reader
	fails int // 0: never
}

func (e endless) Executions(_ context.Context, f history.ExecutionFilter) (p history.Page[history.Execution], err error) {
	n := 0
	if f.After != "" {
		_, err = fmt.Sscan(string(f.After), &n)
	}
	for range f.Limit {
		p.Rows = append(p.Rows, history.Execution{ID: fmt.Sprint("id-", n), Job: f.Job, Outcome: "OK"})
		n++
	}
	if e.fails > 0 && n > e.fails {
		err = errors.New("the database is away")
	}
	p.Next = history.Cursor(fmt.Sprint(n))
	return p, err
}

// fileServer is a console whose histories are all from one reader.
func fileServer(t *testing.T, reader history.Reader) string {
	t.Helper()
	anna := &access.Principal{Name: "anna", Grants: []access.Grant{{Role: access.Viewer}}}
	table := &route.Table{Fail: Fail, Who: func(*http.Request) (*access.Principal, error) { return anna, nil }}
	if _, err := Add(table, Options{Connections: shared{reader: reader}}); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(table)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Start()
	t.Cleanup(s.Close)
	return s.URL + "/api/v1/namespaces/d/history/executions.csv?job=settle"
}

// fetch returns a file as a browser gets it.
func fetch(t *testing.T, url, encoding string) (status int, text string, err error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", encoding)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	answer, err := transport.RoundTrip(r)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	body := io.Reader(answer.Body)
	if isZip := answer.Header.Get("Content-Encoding") == "gzip"; isZip {
		z, err := gzip.NewReader(answer.Body)
		if err != nil {
			return answer.StatusCode, "", err
		}
		z.Multistream(false) // browsers leave alone what follows the first one
		body = z
	}
	all, err := io.ReadAll(body)
	return answer.StatusCode, string(all), err
}

// All pages are in the file, in their order, up to the limit. If one cannot be read, the client gets no end.
func TestFileIsWholeOrCut(t *testing.T) {
	for _, encoding := range []string{"gzip", "identity"} {
		for _, want := range []int{100_000, 2500, 1000, 1} {
			status, text, err := fetch(t, fmt.Sprint(fileServer(t, endless{}), "&limit=", want), encoding)
			rows, err1 := csv.NewReader(strings.NewReader(text)).ReadAll()
			if status != http.StatusOK || err != nil || err1 != nil || len(rows) != want+1 || !strings.HasSuffix(text, "\r\n") {
				t.Fatalf("%s, %d executions: %d, %d rows, %v, %v", encoding, want, status, len(rows), err, err1)
			}
			for i, row := range rows[1:] {
				if row[0] != fmt.Sprint("id-", i) {
					t.Fatalf("row %d is %q", i, row)
				}
			}
		}
		for _, fails := range []int{1500, 90_000} { // before and after the first bytes were sent
			if _, text, err := fetch(t, fileServer(t, endless{fails: fails}), encoding); err == nil {
				t.Errorf("%s: a part of %d bytes looks whole", encoding, len(text))
			}
		}
		if status, text, err := fetch(t, fileServer(t, endless{fails: 1}), encoding); err != nil || status != http.StatusInternalServerError || !strings.Contains(text, "the database is away") {
			t.Errorf("nothing can be read: %d %s, %v", status, text, err)
		}
	}
}

// Each cell is what the field is in JSON, and no formula.
func TestFileCells(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 60_000_000, time.UTC)
	page := history.Page[history.Execution]{Rows: []history.Execution{
		{
			ID: "x", TaskID: "task", Job: "=settle", Item: 3, Instance: "+i", Hostname: "-h", IP: "10.0.0.1", Source: job.SourceManual, ScheduledTime: at, StartTime: at, CompleteTime: at.Add(time.Second),
			Waited: time.Millisecond, Duration: time.Second, Token: 7, Attempts: 2, Outcome: "FAILED", RequestID: "@r", OriginalTaskID: "＝o", Error: "\ta \"bad\",\nthing",
		},
		{ID: "y", Outcome: "RUNNING"},
	}}
	var b strings.Builder
	if err := writeExecutions(&b, page, 2, nil); err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		"id,taskId,job,item,source,outcome,tick,begun,ended,waitedSeconds,durationSeconds,attempts,instance,hostname,address,token,request,original,error",
		"x,task,'=settle,3,MANUAL,FAILED,2026-01-02T03:04:05.06Z,2026-01-02T03:04:05.06Z,2026-01-02T03:04:06.06Z,0.001,1,2,'+i,'-h,10.0.0.1,7,'@r,'＝o,\"'\ta \"\"bad\"\",",
		"thing\"",
		"y,,,0,,RUNNING,,,,0,,,,,,,,,",
		"",
	}, "\r\n")
	if got := b.String(); got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}
