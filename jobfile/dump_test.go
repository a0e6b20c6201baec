package jobfile_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/dump"
	"github.com/elasticjob-go/elasticjob/jobfile"
)

// The section dump answers ElasticJob's line and HTTP, with the token and for the jobs that it has,
// also where another section listens.
func TestDump(t *testing.T) {
	const token = "0123456789abcdef"
	address := free(t, 1)[0]
	o := options(nil)
	o.LookupEnv = func(name string) (string, bool) {
		if name == "TOKEN" {
			return token, true
		}
		return "", false
	}
	o.Commands = map[string]dump.Command{"hello": func(_ context.Context, args string, w io.Writer) error {
		_, err := io.WriteString(w, "hello "+args)
		return err
	}}
	text := memoryFile + "defaults: {implementation: settle, shardingTotalCount: 2}\njobs: {a: {}, b: {}}\n" +
		fmt.Sprintf("dump: {listen: '%s', include: [a], token: '${env:TOKEN}'}\nhealth: {listen: '%s'}\n", address, address)
	app, err := jobfile.Load(t.Context(), o, write(t, text)...)
	if err != nil {
		t.Fatal(err)
	}
	c := dump.Client{Address: address, Token: token}
	if lines, err := c.Text(t.Context(), "a"); err != nil || !strings.Contains(lines, "\n/a/config | ") {
		t.Errorf("%v\n%s", err, lines)
	}
	if d, err := c.Dump(t.Context(), "a"); err != nil || d.Status == nil || d.Differing > 0 {
		t.Errorf("%v\n%+v", err, d)
	}
	if jobs, err := c.Jobs(t.Context()); err != nil || !slices.Equal(jobs, []string{"a"}) {
		t.Errorf("%q, %v", jobs, err)
	}
	if _, err := c.Text(t.Context(), "b"); !errors.Is(err, dump.ErrNoJob) {
		t.Errorf("a job that is not included: %v", err)
	}
	if answer, err := c.Command(t.Context(), "hello", "you"); err != nil || answer != "hello you" {
		t.Errorf("%q, %v", answer, err)
	}
	c.Token = ""
	if _, err := c.Jobs(t.Context()); !errors.Is(err, dump.ErrDenied) {
		t.Errorf("without the token: %v", err)
	}
	if status, page := get(t, "http://"+address+"/live"); status != 200 {
		t.Errorf("/live: %d %s", status, page)
	}
	answer, err := http.Get("http://" + address + "/live")
	if err != nil {
		t.Fatal(err)
	}
	if _ = answer.Body.Close(); !answer.Close { // it was not to be read
		t.Error("an idle connection takes the place of a probe")
	}
	if err := app.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}

	_, err = jobfile.Load(t.Context(), o, write(t, memoryFile+fmt.Sprintf("jobs: {a: {implementation: settle, shardingTotalCount: 1}}\ndump: {listen: '%s', token: short-one}", address))...)
	if err == nil || !strings.Contains(err.Error(), "dump: token of 9 bytes") || strings.Contains(err.Error(), "short-one") {
		t.Errorf("a short token: %v", err)
	}
}

// The newest lines of a run can be read while it is under way, with nothing but the section dump.
func TestLinesOfARun(t *testing.T) {
	address := free(t, 1)[0]
	o := options(nil)
	through := make(chan struct{})
	o.Handlers["settle"] = job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
		job.Logger(ctx).Info("half of it is done")
		<-through
		return nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	app, err := jobfile.Load(ctx, o, write(t, memoryFile+every("a: {}")+fmt.Sprintf("\ndump: {listen: '%s'}\n", address))...)
	if err != nil {
		t.Fatal(err)
	}
	c := dump.Client{Address: address}
	for {
		lines, _, err := c.Log(ctx, "a", dump.LogQuery{})
		if err != nil {
			t.Fatal(err)
		}
		if len(lines) > 0 {
			if lines[0].Text != "half of it is done" || lines[0].Number != 1 {
				t.Errorf("%+v", lines)
			}
			break
		}
	}
	close(through)
	if err := app.Shutdown(ctx); err != nil {
		t.Error(err)
	}
}
