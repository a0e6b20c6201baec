package jobfile_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/dump"
	"github.com/elasticjob-go/elasticjob/jobfile"
)

// askDump asks the section dump over HTTP.
func askDump(t *testing.T, method, url, token, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// The section dump answers HTTP, also where another section listens, and ElasticJob's line, with the token and for the
// jobs that it has.
func TestDump(t *testing.T) {
	const token = "0123456789abcdef"
	addresses := free(t, 2)
	address, line := addresses[0], addresses[1]
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
		fmt.Sprintf("dump: {listen: '%s', line: '%s', include: [a], token: '${env:TOKEN}'}\nhealth: {listen: '%s'}\n", address, line, address)
	app, err := jobfile.Load(t.Context(), o, write(t, text)...)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		method, page, token, body string
		status                    int
		want                      string
	}{
		{"GET", "/dump/a?format=text", token, "", 200, "\n/a/config | "},
		{"GET", "/dump/a", token, "", 200, `"differing": 0`},
		{"GET", "/jobs", token, "", 200, `"a"`},
		{"GET", "/dump/b", token, "", 404, "no such job"},
		{"POST", "/command/hello", token, "you", 200, "hello you"},
		{"GET", "/jobs", "", "", 401, "a token is needed"},
		{"GET", "/live", "", "", 200, ""},
	} {
		if status, page := askDump(t, tc.method, "http://"+address+tc.page, tc.token, tc.body); status != tc.status || !strings.Contains(page, tc.want) {
			t.Errorf("%s: %d %s", tc.page, status, page)
		}
	}
	c, err := net.Dial("tcp", line)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }() // it is only read
	if _, err := io.WriteString(c, "dump@a@"+token+"\n"); err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(c); err != nil || !strings.Contains(string(text), "\n/a/config | ") {
		t.Errorf("%v\n%s", err, text)
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
	half, isHalf := context.WithCancel(t.Context())
	defer isHalf()
	through := make(chan struct{})
	o.Handlers["settle"] = job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
		job.Logger(ctx).Info("half of it is done")
		isHalf()
		<-through
		return nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	app, err := jobfile.Load(ctx, o, write(t, memoryFile+every("a: {}")+fmt.Sprintf("\ndump: {listen: '%s'}\n", address))...)
	if err != nil {
		t.Fatal(err)
	}
	<-half.Done()
	for {
		status, page := askDump(t, "GET", "http://"+address+"/log/a?item=0", "", "")
		if status != http.StatusOK {
			t.Fatal(status, page)
		}
		if strings.Contains(page, `"text"`) {
			if !strings.Contains(page, "half of it is done") || !strings.Contains(page, `"number": 1,`) {
				t.Errorf("%s", page)
			}
			break
		}
	}
	close(through)
	if err := app.Shutdown(ctx); err != nil {
		t.Error(err)
	}
}
