package jobfile_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/testserver/child"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobfile"
	"github.com/elasticjob-go/elasticjob/trace"
)

// free returns addresses on which nobody listens, and that the system gives to nobody meanwhile.
func free(t *testing.T, n int) (addresses []string) {
	t.Helper()
	ports, err := child.FreePorts(n)
	if err != nil {
		t.Fatal(err)
	}
	for _, port := range ports {
		addresses = append(addresses, child.Address(port))
	}
	return addresses
}

// get returns a page and its status.
func get(t *testing.T, url string) (int, string) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 2 * time.Minute} // a machine may stand still
	answer, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }() // it was read
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// Sections show the jobs that they are for; those with the same address share it.
func TestSections(t *testing.T) {
	addresses := free(t, 2)
	one, other := addresses[0], addresses[1]
	text := memoryFile + "defaults: {implementation: settle, shardingTotalCount: 2}\njobs: {a-1: {}, a-2: {}, b: {jobShardingStrategyType: NONE}}\n" +
		fmt.Sprintf("dump: {listen: '%s', include: [a-*]}\nmetrics: {type: EXPVAR, listen: '%s', exclude: [a-2]}\nhealth: {listen: '%s'}\ntracing: {include: [a-2, none-*]}\n", one, one, other) +
		"calendars: {bank: 'timeZone: UTC'}\n"
	o := options(nil)
	var log page
	o.Slog = slog.New(slog.NewTextHandler(&log, nil))
	app, err := jobfile.Load(t.Context(), o, write(t, text)...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = app.Shutdown(context.Background()) }() // it was shut down, or the test has failed
	for _, name := range []string{"a-1", "a-2"} {
		requested, err := app.Node().Job(name).Trigger(t.Context(), job.TriggerRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := requested.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}

	if status, text := get(t, "http://"+one+"/jobs"); status != http.StatusOK || strings.Join(strings.Fields(text), "") != `{"jobs":["a-1","a-2"]}` {
		t.Errorf("/jobs: %d %s", status, text)
	}
	var shown struct {
		Job        string
		Registered bool
		Items      []int
		ItemCount  int
		NextTick   time.Time
	}
	status, document := get(t, "http://"+one+"/jobs/a-1")
	if err := json.Unmarshal([]byte(document), &shown); err != nil || status != http.StatusOK || shown.Job != "a-1" || !shown.Registered || shown.ItemCount != 2 || len(shown.Items) != 2 {
		t.Errorf("/jobs/a-1: %d %v %s", status, err, document)
	}
	for _, name := range []string{"b", "none"} {
		if status, text := get(t, "http://"+one+"/jobs/"+name); status != http.StatusNotFound {
			t.Errorf("/jobs/%s: %d %s", name, status, text)
		}
	}
	var vars struct {
		Elasticjob map[string]struct {
			Started  int
			Finished map[string]int
		}
	}
	if status, text := get(t, "http://"+one+"/debug/vars"); status != http.StatusOK || json.Unmarshal([]byte(text), &vars) != nil ||
		vars.Elasticjob["a-1"].Finished["ok"] != 2 || vars.Elasticjob["a-1"].Started != 2 || len(vars.Elasticjob) != 1 {
		t.Errorf("/debug/vars: %d %s", status, text)
	}

	// A job that does not start is a fault, and makes nobody unready.
	for _, path := range []string{"/live", "/ready"} {
		if status, text := get(t, "http://"+other+path); status != http.StatusOK {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	if status, text := get(t, "http://"+other+"/faults"); status != http.StatusServiceUnavailable || !strings.Contains(text, `"job":"b"`) || !strings.Contains(text, `"kind":"configuration"`) || !strings.Contains(text, "NONE") {
		t.Errorf("/faults: %d %s", status, text)
	}

	if err := app.Shutdown(context.Background()); err != nil { // observers are told everything by then
		t.Error(err)
	}
	lines := log.String()
	if !strings.Contains(lines, "level=WARN msg=\"elasticjob apply writes the calendars of the files; ") {
		t.Errorf("nothing says who writes calendars: %s", lines)
	}
	if !strings.Contains(lines, "matches no job\" section=tracing pattern=none-*") {
		t.Errorf("the log does not say that a pattern matches nothing:\n%s", lines)
	}
	if strings.Count(lines, `msg="execution finished" job=a-2`) != 2 || strings.Contains(lines, `msg="execution finished" job=a-1`) {
		t.Errorf("log:\n%s", lines)
	}
}

// A type of the program takes the place of the built-in one, and needs no address. A recorder gets
// what the handlers write, too.
func TestTypesOfTheProgram(t *testing.T) {
	o := options(nil)
	var log page
	o.Slog = slog.New(slog.NewTextHandler(&log, nil))
	o.Handlers["settle"] = job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
		job.Logger(ctx).Info("of " + sc.JobName)
		return nil
	})
	newest, err := trace.NewNewest(trace.NewestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	recorder, err := trace.New(newest, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o.Tracing = map[string]jobfile.Tracer{"MINE": recorder}
	o.Metrics = map[string]job.Observer{"OURS": func(job.Event) { t.Error("what is off is told") }}
	text := memoryFile + "defaults: {implementation: settle, shardingTotalCount: 1}\njobs: {a: {}, b: {}}\ntracing: {type: MINE, include: [a]}\nmetrics: {type: OURS, enabled: false}\nhealth: {enabled: false}"
	app, err := jobfile.Load(t.Context(), o, write(t, text)...)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		requested, err := app.Node().Job(name).Trigger(t.Context(), job.TriggerRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := requested.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(app.Shutdown(context.Background()), recorder.Close(context.Background())); err != nil {
		t.Error(err)
	}
	if events, lines := newest.Events("a", 0, ""), newest.Lines("a", 0, "", 0); len(events) != 3 || len(lines) != 1 || lines[0].Text != "of a" {
		t.Errorf("of a it has %+v and %+v", events, lines)
	}
	if events, lines := newest.Events("b", 0, ""), newest.Lines("b", 0, "", 0); len(events)+len(lines) != 0 {
		t.Errorf("of b it has %+v and %+v", events, lines)
	}
	if strings.Contains(log.String(), "execution finished") {
		t.Errorf("log:\n%s", &log)
	}

	o.Tracing["MINE"] = nil
	if _, err := jobfile.Load(t.Context(), o, write(t, text)...); err == nil || !strings.Contains(err.Error(), `tracing.type: "MINE": Options.Tracing has nil for it`) {
		t.Error(err)
	}
}
