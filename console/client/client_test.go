package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/console/client"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// answering answers requests by a function.
type answering func(*http.Request) (*http.Response, error)

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) { return a(r) }

func answer(status int, body string, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

func over(t *testing.T, a answering) *client.Client {
	t.Helper()
	c, err := client.New("https://console.example.com/base/", client.Options{Token: "secret", HTTP: &http.Client{Transport: a}})
	must(t, err)
	return c
}

func TestNewRefuses(t *testing.T) {
	for _, tt := range []struct {
		url  string
		o    client.Options
		says string
	}{
		{"console.example.com", client.Options{}, "http or https"},
		{"ftp://console.example.com", client.Options{}, "http or https"},
		{"https://anna:secret@console.example.com", client.Options{}, "http or https"},
		{"https://console.example.com?x=1", client.Options{}, "http or https"},
		{"https://%zz", client.Options{}, "URL"},
		{"https://console.example.com", client.Options{Token: "secret", Name: "anna"}, "one of them"},
		{"https://console.example.com", client.Options{Name: "an:na"}, "colon"},
		{"https://console.example.com#x", client.Options{}, "http or https"},
		{"http://console.example.com", client.Options{Token: "secret"}, "https"},
		{"http://console.example.com", client.Options{Name: "anna", Password: "secret"}, "https"},
		{"http://192.0.2.1", client.Options{Token: "secret"}, "https"},
	} {
		if _, err := client.New(tt.url, tt.o); err == nil || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", tt.url, err)
		}
	}
	for _, fine := range []string{"http://localhost:8080", "http://[::1]:8080", "https://console.example.com/base"} {
		if _, err := client.New(fine, client.Options{Token: "secret"}); err != nil {
			t.Errorf("%s: %v", fine, err)
		}
	}
	if _, err := client.New("http://console.example.com", client.Options{Token: "secret", Insecure: true}); err != nil {
		t.Error(err)
	}
}

// What is safe is sent again, with pauses, and what is not is sent once.
func TestAttempts(t *testing.T) {
	busy := `{"code":"busy","detail":"ops: the job changes too fast"}`
	for name, tt := range map[string]struct {
		answer func() (*http.Response, error)
		do     func(context.Context, *client.Client) error
		want   int
		least  time.Duration
		is     error
	}{
		"GET, no answer":      {func() (*http.Response, error) { return nil, io.ErrUnexpectedEOF }, getInfo, 4, 700 * time.Millisecond, io.ErrUnexpectedEOF},
		"GET, away":           {func() (*http.Response, error) { return answer(503, "", "Retry-After", "5"), nil }, getInfo, 4, 15 * time.Second, client.ErrAway},
		"GET, limited":        {func() (*http.Response, error) { return answer(429, "", "Retry-After", "999999"), nil }, getInfo, 4, 90 * time.Second, client.ErrLimited},
		"GET, bad gateway":    {func() (*http.Response, error) { return answer(502, "<html>"), nil }, getInfo, 4, 700 * time.Millisecond, client.ErrAway},
		"GET, gateway's time": {func() (*http.Response, error) { return answer(504, ""), nil }, getInfo, 4, 700 * time.Millisecond, client.ErrAway},
		"GET, no such job":    {func() (*http.Response, error) { return answer(404, `{"code":"no-job","detail":"x"}`), nil }, getInfo, 1, 0, ops.ErrNoJob},
		"GET, a redirect":     {func() (*http.Response, error) { return answer(302, ""), nil }, getInfo, 1, 0, nil},
		"GET, no JSON":        {func() (*http.Response, error) { return answer(200, "<html>"), nil }, getInfo, 1, 0, nil},
		"trigger, no answer":  {func() (*http.Response, error) { return nil, io.ErrUnexpectedEOF }, trigger, 4, 700 * time.Millisecond, io.ErrUnexpectedEOF},
		"trigger, busy":       {func() (*http.Response, error) { return answer(409, busy), nil }, trigger, 4, 700 * time.Millisecond, ops.ErrBusy},
		"trigger, queue full": {func() (*http.Response, error) { return answer(409, `{"code":"queue-full","detail":"x"}`), nil }, trigger, 1, 0, job.ErrQueueFull},
		"pause, no answer":    {func() (*http.Response, error) { return nil, io.ErrUnexpectedEOF }, pauseJob, 1, 0, io.ErrUnexpectedEOF},
		"pause, dry": {func() (*http.Response, error) { return nil, io.ErrUnexpectedEOF }, func(ctx context.Context, c *client.Client) error {
			return second(c.Namespace("orders").DryRun().Job("settle").Pause(ctx, client.PauseBody{}))
		}, 4, 700 * time.Millisecond, io.ErrUnexpectedEOF},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun, keys := time.Now(), map[string]int{}
				sent := 0
				err := tt.do(t.Context(), over(t, func(r *http.Request) (*http.Response, error) {
					sent++
					keys[r.Header.Get("Idempotency-Key")]++
					if r.Header.Get("Authorization") != "Bearer secret" || !strings.HasPrefix(r.URL.Path, "/base/api/v1/namespaces/orders/jobs/settle") {
						t.Errorf("%s %v", r.URL, r.Header)
					}
					return tt.answer()
				}))
				if err == nil || tt.is != nil && !errors.Is(err, tt.is) || sent != tt.want || len(keys) != 1 || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "https://") {
					t.Errorf("%d attempts, keys %v: %v", sent, keys, err)
				}
				if took := time.Since(begun); took < tt.least || took > 3*tt.least {
					t.Errorf("after %v, want %v at least", took, tt.least)
				}
			})
		})
	}
}

func getInfo(ctx context.Context, c *client.Client) error {
	return second(c.Namespace("orders").Job("settle").GetInfo(ctx))
}

func trigger(ctx context.Context, c *client.Client) error {
	return second(c.Namespace("orders").Job("settle").Trigger(ctx, client.TriggerBody{}, ""))
}

func pauseJob(ctx context.Context, c *client.Client) error {
	return second(c.Namespace("orders").Job("settle").Pause(ctx, client.PauseBody{}))
}

// Who does not want to wait any longer does not.
func TestAttemptsEndWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		err := getInfo(ctx, over(t, func(*http.Request) (*http.Response, error) { return answer(503, "", "Retry-After", "20"), nil }))
		if took := time.Since(begun); !errors.Is(err, client.ErrAway) || took != time.Second {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

// An attempt that hangs ends, and another one is made.
func TestAttemptsThatHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, sent := time.Now(), 0
		err := getInfo(t.Context(), over(t, func(r *http.Request) (*http.Response, error) {
			sent++
			<-r.Context().Done()
			return nil, r.Context().Err()
		}))
		if took := time.Since(begun); !errors.Is(err, context.DeadlineExceeded) || sent != 4 || took < 4*time.Minute || took > 4*time.Minute+5*time.Second {
			t.Errorf("%d attempts, after %v: %v", sent, took, err)
		}
	})
}

// Clients that fail at the same time do not come again at the same time.
func TestAttemptsAreSpread(t *testing.T) {
	took := map[time.Duration]bool{}
	for range 3 {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			err := getInfo(t.Context(), over(t, func(*http.Request) (*http.Response, error) { return answer(503, ""), nil }))
			if took[time.Since(begun)] = true; !errors.Is(err, client.ErrAway) {
				t.Error(err)
			}
		})
	}
	if len(took) != 3 {
		t.Errorf("after %v", took)
	}
}

// A redirect is not followed, whoever sends requests: neither gets another host the token, nor becomes a change a
// question, whose answer would be taken for a success.
func TestRedirects(t *testing.T) {
	led := 0
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { led++ }))
	defer elsewhere.Close()
	here := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusFound)
	}))
	defer here.Close()
	transport := &http.Transport{}
	for name, its := range map[string]*http.Client{"its own": nil, "the caller's": {Transport: transport}} {
		c, err := client.New(here.URL, client.Options{Token: "secret", HTTP: its})
		must(t, err)
		watch := func() (err error) {
			for _, err = range c.Namespace("orders").Watch(t.Context()) {
				break
			}
			return err
		}
		for what, err := range map[string]error{"question": getInfo(t.Context(), c), "change": c.RemoveUser(t.Context(), "ben"), "watch": watch()} {
			if e, ok := errors.AsType[*client.Error](err); !ok || e.Status != http.StatusFound {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
	}
	follows, err := client.New(here.URL, client.Options{HTTP: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return nil }}})
	must(t, err)
	if must(t, follows.RemoveUser(t.Context(), "ben")); led != 1 {
		t.Errorf("%d requests were led elsewhere", led)
	}
	transport.CloseIdleConnections()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

// Answers are bounded, whoever they are from.
func TestAnswersAreBounded(t *testing.T) {
	endless := func(status int) answering {
		return func(*http.Request) (*http.Response, error) {
			a := answer(status, "")
			a.Body = io.NopCloser(zeros{})
			return a, nil
		}
	}
	for _, status := range []int{200, 404} {
		if err := getInfo(t.Context(), over(t, endless(status))); err == nil || len(err.Error()) > 4<<10 || !strings.Contains(err.Error(), "more than 67108864 bytes") {
			t.Errorf("%d: %.200v", status, err)
		}
	}
	if err := getInfo(t.Context(), over(t, func(*http.Request) (*http.Response, error) {
		return answer(404, strings.Repeat("no such page ", 10_000)), nil
	})); err == nil || len(err.Error()) > 4<<10 {
		t.Errorf("%.200v", err)
	}
}

// So is what an error keeps of one.
func TestErrorsAreBounded(t *testing.T) {
	long := strings.Repeat("no such job ", 10_000)
	err := getInfo(t.Context(), over(t, func(*http.Request) (*http.Response, error) {
		return answer(404, `{"code":"`+long+`","detail":"`+long+`"}`, "X-Request-Id", long, "Retry-After", "999999"), nil
	}))
	e, ok := errors.AsType[*client.Error](err)
	if !ok || len(e.Error()) > 4<<10 || len(e.Detail) > 2<<10+10 || len(e.ID) > 1<<10 || e.RetryAfter != time.Hour {
		t.Errorf("%.200v: %d bytes, detail %d, id %d, again after %v", err, len(err.Error()), len(e.Detail), len(e.ID), e.RetryAfter)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// Names are escaped, and cannot lead elsewhere.
func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"a b":  "/base/api/v1/namespaces/orders/jobs/a%20b/info",
		"a/b":  "/base/api/v1/namespaces/orders/jobs/a%2Fb/info",
		"a?b":  "/base/api/v1/namespaces/orders/jobs/a%3Fb/info",
		"日%2F": "/base/api/v1/namespaces/orders/jobs/%E6%97%A5%252F/info",
		"":     "", ".": "", "..": "",
	} {
		sent := ""
		err := second(over(t, func(r *http.Request) (*http.Response, error) {
			sent = r.URL.EscapedPath()
			return answer(200, "{}"), nil
		}).Namespace("orders").Job(name).GetInfo(t.Context()))
		if sent != want || (err != nil) != (want == "") {
			t.Errorf("%q: %s, %v", name, sent, err)
		}
	}
}

// A code that several errors have tells none of them, but that the store is away.
func TestCodesOfSeveralErrors(t *testing.T) {
	for _, tt := range []struct {
		code   string
		target error
		want   bool
	}{
		{"busy", ops.ErrBusy, true},
		{"store-away", ops.ErrStoreAway, true},
		{"store-away", coord.ErrClosed, false},
		{"store-away", coord.ErrSessionLost, false},
		{"invalid", ops.ErrRequest, false},
		{"closing", ops.ErrStoresClosed, false},
		{"", ops.ErrNoStore, false}, // which has no code
	} {
		if got := errors.Is(&client.Error{Code: tt.code}, tt.target); got != tt.want {
			t.Errorf("%q is %v: %v, want %v", tt.code, tt.target, got, tt.want)
		}
	}
}

// Errors of the console are those of ops, for who branches on them, with what is wrong where.
func TestErrors(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx, anna, ben := t.Context(), w.as(t, "anna").Namespace("orders"), w.as(t, "ben").Namespace("orders")
		nobody, err := client.New("http://127.0.0.1", client.Options{Token: "wrong", HTTP: &http.Client{Transport: w.transport}})
		must(t, err)
		config := client.SettingsBody{Document: "jobName: settle\ncron: never\nshardingTotalCount: 0\n"}
		for name, tt := range map[string]struct {
			err   error
			is    []error
			field string
		}{
			"nobody":           {second(nobody.ListNamespaces(ctx)), []error{client.ErrNotLoggedIn}, ""},
			"not his job":      {second(ben.Job("settle").GetInfo(ctx)), []error{client.ErrDenied}, ""},
			"not his to do":    {second(ben.Job("pay-out").Resume(ctx, client.ResumeBody{})), []error{client.ErrDenied}, ""},
			"no namespace":     {second(w.as(t, "anna").Namespace("nothing").Job("settle").GetInfo(ctx)), []error{client.ErrNoNamespace}, ""},
			"no job":           {second(anna.Job("nothing").GetInfo(ctx)), []error{ops.ErrNoJob}, ""},
			"no request":       {second(anna.Job("settle").GetRequest(ctx, "nothing", client.GetRequestParams{})), []error{job.ErrNoRequest}, ""},
			"job exists":       {second(anna.Job("late").PutSettings(ctx, client.SettingsBody{Document: "jobName: late\ncron: 0 0 3 * * ?\nshardingTotalCount: 1\n"}, "")), []error{ops.ErrJobExists, client.ErrChanged}, "header.If-None-Match"},
			"changed":          {second(anna.Job("late").PatchSettings(ctx, []byte(`{}`), `"1"`)), []error{ops.ErrConfigChanged, client.ErrChanged}, ""},
			"bad settings":     {second(anna.Job("settle").PutSettings(ctx, config, client.Any)), []error{job.ErrInvalidConfig, client.ErrInvalid}, "cron"},
			"no such item":     {second(anna.Job("settle").Trigger(ctx, client.TriggerBody{Items: []int{9}}, "")), []error{job.ErrNoItem}, ""},
			"nobody runs it":   {second(anna.Job("late").Trigger(ctx, client.TriggerBody{}, "")), []error{job.ErrNobodyRunsIt}, ""},
			"paused otherwise": {second(anna.Job("pay-out").Pause(ctx, client.PauseBody{MakeUp: true})), []error{ops.ErrPaused}, ""},
			"no pin":           {second(anna.Job("settle").PinItem(ctx, 0, client.PinBody{})), []error{client.ErrInvalid}, "body.instance"},
		} {
			e, ok := errors.AsType[*client.Error](tt.err)
			if !ok || e.Code == "" || e.ID == "" || tt.field != "" && (len(e.Fields) == 0 || e.Fields[0].Field != tt.field) {
				t.Errorf("%s: %v, %+v", name, tt.err, e)
				continue
			}
			for _, is := range tt.is {
				if !errors.Is(tt.err, is) {
					t.Errorf("%s: %v is not %v", name, tt.err, is)
				}
			}
			if errors.Is(tt.err, ops.ErrBusy) {
				t.Errorf("%s: %v is another error, too", name, tt.err)
			}
		}
		outcomes, err := anna.ChangeJobs(ctx, client.BatchBody{Action: client.BatchBodyActionPause, Jobs: []string{"nothing", "settle"}}, "")
		if err != nil || outcomes.Failed != 1 || !errors.Is(outcomes.Outcomes[0].Err(), ops.ErrNoJob) || outcomes.Outcomes[1].Err() != nil {
			t.Errorf("%+v, %v", outcomes, err)
		}
	})
}

// A request is made once, also if its answer is lost.
func TestTriggerWithoutAnswer(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.as(t, "anna") // has a token then
		lost, token := 0, w.tokens["anna"]
		c, err := client.New("http://127.0.0.1", client.Options{Token: token, HTTP: &http.Client{Transport: answering(func(r *http.Request) (*http.Response, error) {
			a, err := w.transport.RoundTrip(r)
			if err == nil && r.Method == http.MethodPost && lost < 2 {
				lost++
				_ = a.Body.Close() // nobody gets it
				return nil, io.ErrUnexpectedEOF
			}
			return a, err
		})}})
		must(t, err)
		settle := c.Namespace("orders").Job("settle")
		before, err := client.Collect(settle.ListRequests(t.Context()), 0)
		must(t, err)
		r, err := settle.Trigger(t.Context(), client.TriggerBody{Items: []int{1}}, "")
		if err != nil || !r.WasThere || lost != 2 {
			t.Fatalf("%+v, %v", r, err)
		}
		after, err := client.Collect(settle.ListRequests(t.Context()), 0)
		if err != nil || len(after) != len(before)+1 {
			t.Errorf("%d requests more, %v", len(after)-len(before), err)
		}
		end, err := settle.Await(t.Context(), r.ID)
		if err != nil || len(end.Results) != 1 || end.Results[0].Outcome != "FAILED" {
			t.Errorf("%+v, %v", end, err)
		}
	})
}

// A request has what the caller says, and no more: what is zero is left to the console, and a list is never null.
func TestRequests(t *testing.T) {
	utc := time.Date(2026, 11, 28, 3, 0, 0, 500, time.UTC)
	for name, tt := range map[string]struct {
		do           func(context.Context, *client.Client) error
		query, body  string
		header, want string
	}{
		"nothing": {func(ctx context.Context, c *client.Client) error {
			return second(c.Namespace("orders").JobsPage(ctx, client.ListJobsParams{}))
		}, "", "", "Content-Type", ""},
		"texts, numbers and lists": {func(ctx context.Context, c *client.Client) error {
			return drain(c.Namespace("orders").ListExecutions(ctx, client.ListExecutionsParams{Job: "a b", Items: []int{1, 2}, Outcomes: []history.Outcome{history.OutcomeLost}, From: utc, Limit: 7}))
		}, "from=2026-11-28T03%3A00%3A00.0000005Z&items=1%2C2&job=a+b&limit=7&outcomes=LOST", "", "Accept", "application/json"},
		"zero that is no default": {func(ctx context.Context, c *client.Client) error {
			return second(c.Namespace("orders").Job("settle").ListLatest(ctx, client.ListLatestParams{After: new(0)}))
		}, "after=0", "", "Accept", "application/json"},
		"no grants": {func(ctx context.Context, c *client.Client) error {
			return third(c.SetUser(ctx, "ben", client.UserRights{}, client.Any))
		}, "", `{"disabled":false,"grants":[]}`, "If-Match", "*"},
		"replacement": {func(ctx context.Context, c *client.Client) error {
			return second(c.Namespace("orders").PutCalendar(ctx, "bank", client.CalendarBody{Document: "x"}, `"1"`))
		}, "", `{"document":"x"}`, "If-Match", `"1"`},
		"creation": {func(ctx context.Context, c *client.Client) error {
			return second(c.Namespace("orders").PutCalendar(ctx, "bank", client.CalendarBody{Document: "x"}, ""))
		}, "", `{"document":"x"}`, "If-None-Match", "*"},
		"patch": {func(ctx context.Context, c *client.Client) error {
			return second(c.Namespace("orders").Job("settle").PatchSettings(ctx, []byte(`{"cron":null}`), client.Any))
		}, "", `{"cron":null}`, "Content-Type", "application/merge-patch+json"},
		"key": {func(ctx context.Context, c *client.Client) error {
			return second(c.Namespace("orders").DryRun().Job("settle").Trigger(ctx, client.TriggerBody{}, "month-end"))
		}, "dryRun=true", `{}`, "Idempotency-Key", "month-end"},
		"no body": {func(ctx context.Context, c *client.Client) error {
			return second(c.TestNamespaceConnection(ctx, "orders", nil))
		}, "", "", "Content-Type", ""},
	} {
		sent := 0
		err := tt.do(t.Context(), over(t, func(r *http.Request) (*http.Response, error) {
			sent++
			body, err := io.ReadAll(r.Body)
			if err != nil || r.URL.RawQuery != tt.query || string(body) != tt.body || r.Header.Get(tt.header) != tt.want {
				t.Errorf("%s: %q, %s, %v, %v", name, r.URL.RawQuery, body, r.Header, err)
			}
			return answer(200, "{}"), nil
		}))
		if err != nil || sent != 1 {
			t.Errorf("%s: sent %d times, %v", name, sent, err)
		}
	}
}
