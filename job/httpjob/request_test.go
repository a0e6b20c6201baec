package httpjob_test

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/httpjob"
)

// got is a request as a server has got it.
type got struct {
	method, uri, host, body string
	header                  http.Header
	length                  int64
}

// record starts a server that keeps what it gets.
func record(t testing.TB) (string, <-chan got) {
	requests := make(chan got, 100)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		requests <- got{r.Method, r.RequestURI, r.Host, string(body), r.Header, r.ContentLength}
	})
	return s.URL, requests
}

func TestRequest(t *testing.T) {
	url, requests := record(t)
	t.Setenv("HTTPJOB_TOKEN", "s3cret/+&")
	secret := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(secret, []byte("from a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := execute(t, post(url+"/${jobName}/${shardingItem}?city=${shardingParameter}&key=${env:HTTPJOB_TOKEN}&at=${scheduledTime}").with(props{
		"http.data":                 `{"item":${shardingItem},"of":${shardingTotalCount},"city":${json:shardingParameter},"key":${json:env:HTTPJOB_TOKEN},"form":"${url:jobParameter}","$${x}":"${source} ${attempt} ${token} ${taskId} ${instanceId}"}`,
		"http.content.type":         "application/json",
		"http.header.Authorization": "Bearer ${file:" + secret + "}",
		"http.header.x-item":        "${shardingItem}",
		"http.header.Host":          "billing.example.com",
	}))
	if err != nil {
		t.Fatal(err)
	}
	r := <-requests
	if want := "/settle/2?city=Guangzhou&key=s3cret%2F%2B%26&at=2026-05-01T02%3A00%3A00Z"; r.uri != want || r.method != "POST" {
		t.Errorf("got %s %s, want POST %s", r.method, r.uri, want)
	}
	if want := `{"item":2,"of":3,"city":"Guangzhou","key":"s3cret/+&","form":"all","${x}":"NORMAL_TRIGGER 1 42 0193-task 10.0.0.1@-@1"}`; r.body != want {
		t.Errorf("got the body %s, want %s", r.body, want)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/json", "Authorization": "Bearer from a file", "X-Item": "2",
		"Idempotency-Key": "0193-task", "Fencing-Token": "42", "User-Agent": "elasticjob",
	} {
		if r.header.Get(name) != want {
			t.Errorf("%s: got %q, want %q", name, r.header.Get(name), want)
		}
	}
	if r.host != "billing.example.com" {
		t.Errorf("got the host %s", r.host)
	}
	var inJSON map[string]any
	if err := json.Unmarshal([]byte(r.header.Get("shardingContext")), &inJSON); err != nil || inJSON["jobName"] != "settle" || inJSON["shardingItem"] != 2.0 {
		t.Errorf("shardingContext: got %v, %v", inJSON, err)
	}
}

// A body goes with the methods that write.
func TestBodyByMethod(t *testing.T) {
	url, requests := record(t)
	for method, want := range map[string]string{"GET": "", "HEAD": "", "OPTIONS": "", "POST": "a=b", "PUT": "a=b", "PATCH": "a=b", "DELETE": "a=b"} {
		if err := execute(t, get(url).with(props{"http.method": method, "http.data": "a=b"})); err != nil {
			t.Error(err)
		}
		if r := <-requests; r.method != method || r.body != want || r.length != int64(len(want)) {
			t.Errorf("%s: got %s with the body %q of %d bytes, want %q", method, r.method, r.body, r.length, want)
		}
	}
}

// Without a task id and a token there are no headers for them, and a header of the job's
// replaces the task id.
func TestIdempotencyKey(t *testing.T) {
	url, requests := record(t)
	requestsType := newType(t, httpjob.Options{})
	if err := handlerOf(t, requestsType, post(url)).Execute(t.Context(), job.ShardingContext{JobName: "settle"}); err != nil {
		t.Fatal(err)
	}
	header := (<-requests).header
	for _, name := range []string{"Idempotency-Key", "Fencing-Token"} {
		if values, ok := header[name]; ok {
			t.Errorf("%s: got %q", name, values)
		}
	}
	if err := execute(t, post(url).with(props{"http.header.idempotency-key": "${jobName}-${scheduledTime}"})); err != nil {
		t.Fatal(err)
	}
	if got := (<-requests).header["Idempotency-Key"]; len(got) != 1 || got[0] != "settle-2026-05-01T02:00:00Z" {
		t.Errorf("got %q", got)
	}
}

// References are looked up for each execution, by the process's own lookup if it has one.
func TestLookup(t *testing.T) {
	url, requests := record(t)
	secrets := map[string]string{"vault/billing": "first"}
	o := httpjob.Options{Lookup: func(name string) (string, bool, error) {
		value, ok := secrets[name]
		return value, ok, nil
	}}
	h := handlerOf(t, newType(t, o), get(url).with(props{"http.header.X-Api-Key": "${vault/billing}"}))
	for _, want := range []string{"first", "second"} {
		secrets["vault/billing"] = want
		if err := h.Execute(t.Context(), sharding()); err != nil {
			t.Fatal(err)
		}
		if got := (<-requests).header.Get("X-Api-Key"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	maps.DeleteFunc(secrets, func(string, string) bool { return true })
	if err := h.Execute(t.Context(), sharding()); err == nil || !strings.Contains(err.Error(), `http.header.X-Api-Key: reference "${vault/billing}": is not known`) {
		t.Errorf("got %v", err)
	}
}

// What does not fit fails without a request, and for good.
func TestValuesThatDoNotFit(t *testing.T) {
	url, requests := record(t)
	for name, tc := range map[string]struct {
		p     props
		value string
		says  string
	}{
		"line break in a header":       {get(url).with(props{"http.header.X-A": "${jobParameter}"}), "a\r\nX-B: c", `http.header.X-A: "${jobParameter}": control characters`},
		"line break in a content type": {get(url).with(props{"http.content.type": "${jobParameter}"}), "a\n", `http.content.type: "${jobParameter}"`},
		"slash in a host":              {get("http://${jobParameter}.example.com/"), "evil.com/", `http.uri: "${jobParameter}" has characters that a host has not`},
		"port in a host":               {get("http://${jobParameter}/"), "evil.com:80", `http.uri: "${jobParameter}" has`},
		"no host":                      {get("http://${jobParameter}/"), "", "http.uri: it is no URL with its values"},
		"step up in a path":            {get(url + "/a/${jobParameter}/b"), "..", `http.uri: "${jobParameter}" is . or ..`},
		"too long":                     {post(url).with(props{"http.data": strings.Repeat("${jobParameter}", 20)}), strings.Repeat("x", 100_000), "http.data: with its values it has more than 1048576 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			sc := sharding()
			sc.JobParameter = tc.value
			err := handlerOf(t, newType(t, httpjob.Options{}), tc.p).Execute(t.Context(), sc)
			if err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Fatalf("got %v, want %q in it", err, tc.says)
			}
			if !isForGood(t, err) {
				t.Error("it is tried again")
			}
		})
	}
	select {
	case r := <-requests:
		t.Errorf("got a request: %+v", r)
	default:
	}
}

// Secrets are neither in errors nor in what is kept of the answer.
func TestSecretsAreHidden(t *testing.T) {
	t.Setenv("HTTPJOB_TOKEN", "hunter2 & co")
	echo := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, r.RequestURI+" "+r.Header.Get("Authorization")+" "+string(body)) // who reads it notices if it fails
	})
	away := serve(t, func(http.ResponseWriter, *http.Request) {})
	away.Close()
	secret := props{"http.header.Authorization": "Bearer ${env:HTTPJOB_TOKEN}", "http.data": "${json:env:HTTPJOB_TOKEN}"}
	const where = "/${env:HTTPJOB_TOKEN}?a=${env:HTTPJOB_TOKEN}&token=abcdef"
	for name, url := range map[string]string{"answer": echo.URL, "no server": away.URL} {
		err := execute(t, post(strings.Replace(url, "//", "//u:${env:HTTPJOB_TOKEN}@", 1)+where).with(secret))
		if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "/***?…") {
			t.Errorf("%s: got %v", name, err)
		}
		if name == "answer" {
			if e, ok := errors.AsType[*httpjob.StatusError](err); !ok || e.Code != 400 || strings.Contains(e.Body, "hunter2") || !strings.Contains(e.Body, "Bearer ***") {
				t.Errorf("got %+v", e)
			}
		}
	}
}

// Any parameter of a job can stand in the header of the sharding context.
func TestContextHeader(t *testing.T) {
	url, requests := record(t)
	sc := sharding()
	sc.JobParameter = "a\r\nb\x7f\u754c\x00\""
	if err := handlerOf(t, newType(t, httpjob.Options{}), get(url)).Execute(t.Context(), sc); err != nil {
		t.Fatal(err)
	}
	var got struct{ JobParameter string }
	if err := json.Unmarshal([]byte((<-requests).header.Get("shardingContext")), &got); err != nil || got.JobParameter != sc.JobParameter {
		t.Errorf("got %q, %v", got.JobParameter, err)
	}
}

// TestEmptyBody: a POST without data has the length 0, not an unknown one.
func TestEmptyBody(t *testing.T) {
	url, requests := record(t)
	if err := execute(t, post(url)); err != nil {
		t.Fatal(err)
	}
	if r := <-requests; r.length != 0 || r.header.Get("Content-Length") != "0" && r.header.Get("Transfer-Encoding") != "" {
		t.Errorf("got %+v", r)
	}
}

// What a context passes on is sent as headers, but not to other origins. What the properties say
// counts more, and some are not to be set at all.
func TestPropagated(t *testing.T) {
	url, requests := record(t)
	var other string
	home := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("traceparent"); got != "00-1" {
			t.Errorf("at home the header is %q", got)
		}
		http.Redirect(w, r, other, http.StatusTemporaryRedirect)
	}).URL
	ctx := t.Context()
	for name, value := range map[string]string{
		"traceparent": "00-1", "x-tenant": "a", "shardingContext": "no", "host": "no", "content-length": "7", "authorization": "no", "fencing-token": "1", "idempotency-key": "no",
	} {
		var err error
		if ctx, err = job.Propagate(ctx, name, value); err != nil {
			t.Fatal(err)
		}
	}
	if err := executeIn(t, ctx, get(url).with(props{"http.header.X-Tenant": "b"})); err != nil {
		t.Fatal(err)
	}
	is := <-requests
	for name, want := range map[string]string{"Traceparent": "00-1", "X-Tenant": "b", "Fencing-Token": "42", "Idempotency-Key": "0193-task", "Authorization": ""} {
		if got := strings.Join(is.header[name], ", "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if is.host == "no" || is.length == 7 || is.header.Get("shardingContext") == "no" {
		t.Errorf("got %+v", is)
	}
	other = url
	if err := executeIn(t, ctx, get(home)); err != nil {
		t.Fatal(err)
	}
	if is := <-requests; is.header.Get("traceparent") != "" {
		t.Errorf("elsewhere: %v", is.header)
	}
}
