package alert_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/alert"
)

// receiver is a server with TLS that keeps the requests it gets.
type receiver struct {
	*httptest.Server
	requests chan request
}

type request struct {
	method string
	url    *url.URL
	header http.Header
	body   string
}

// newReceiver begins a server. reply answers; nil means 200 without a body.
func newReceiver(t *testing.T, reply http.HandlerFunc) *receiver {
	r := &receiver{requests: make(chan request, 1000)}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			return
		}
		r.requests <- request{q.Method, q.URL, q.Header, string(body)}
		if reply != nil {
			reply(w, q)
		}
	}))
	r.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes that fail, as they are to
	r.StartTLS()
	t.Cleanup(r.Close)
	return r
}

// options trust the server under the name "test", and know its URL and a secret.
func (r *receiver) options() alert.Options {
	roots := x509.NewCertPool()
	roots.AddCert(r.Certificate())
	return alert.Options{
		TLS:    map[string]*tls.Config{"test": {RootCAs: roots}},
		Host:   "host-1",
		Lookup: lookup(map[string]string{"env:URL": r.URL + "/send/T0KEN-PATH?access_token=T0KEN-QUERY", "env:KEY": "SECtest-key/+=", "env:LINES": "a\r\nb"}),
	}
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

func status(code int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, text) // who reads it notices if it fails
	}
}

// messengers are the types with a webhook and a text, and what success is for them.
var messengers = map[string]struct {
	of      func(alert.Options) job.ErrorHandlerType
	success string
}{
	"wechat":   {alert.WeChat, `{"errcode":0,"errmsg":"ok"}`},
	"dingtalk": {alert.DingTalk, `{"errcode":0,"errmsg":"ok"}`},
	"slack":    {alert.Slack, "ok"},
}

// textIn returns the text in a request of a messenger, and checks the rest.
func textIn(t *testing.T, name string, r request) string {
	t.Helper()
	if r.method != "POST" || r.header.Get("Content-Type") != "application/json; charset=utf-8" || r.url.Path != "/send/T0KEN-PATH" || r.url.Query().Get("access_token") != "T0KEN-QUERY" {
		t.Errorf("%s %s, %v", r.method, r.url, r.header)
	}
	decoder := json.NewDecoder(strings.NewReader(r.body))
	decoder.DisallowUnknownFields()
	if name == "slack" {
		var m struct{ Text string }
		if err := decoder.Decode(&m); err != nil {
			t.Fatal(err)
		}
		return m.Text
	}
	var m struct {
		MsgType string
		Text    struct{ Content string }
	}
	if err := decoder.Decode(&m); err != nil || m.MsgType != "text" {
		t.Fatalf("%v: %s", err, r.body)
	}
	return m.Text.Content
}

func TestMessengers(t *testing.T) {
	for name, messenger := range messengers {
		t.Run(name, func(t *testing.T) {
			r := newReceiver(t, says(messenger.success))
			h := newHandler(t, messenger.of(r.options()), nil, map[string]string{name + ".webhook": "${env:URL}", name + ".tls": "test"})
			h.HandleError(t.Context(), execution(3), errors.New("disk <full> & \"broken\" 磁盘"))
			if err := h.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			want := `disk <full> & "broken" 磁盘`
			if name == "slack" {
				want = `disk &lt;full&gt; &amp; "broken" 磁盘`
			}
			text := textIn(t, name, <-r.requests)
			if !strings.HasPrefix(text, "Job 'settle' failed: item 3\n") || !strings.HasSuffix(text, "\nError: "+want) {
				t.Errorf("got %s", text)
			}
		})
	}
}

// A text is cut at the bound of the receiver, between characters.
func TestLongText(t *testing.T) {
	for name, most := range map[string]int{"wechat": 2048, "dingtalk": 20_000, "slack": 40_000} {
		t.Run(name, func(t *testing.T) {
			r := newReceiver(t, says(messengers[name].success))
			h := newHandler(t, messengers[name].of(r.options()), nil, map[string]string{name + ".webhook": "${env:URL}", name + ".tls": "test"})
			h.HandleError(t.Context(), execution(3), errors.New(strings.Repeat("磁<", 10_000)))
			if err := h.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			text := textIn(t, name, <-r.requests)
			if len(text) > most || strings.ContainsRune(text, '\uFFFD') || !strings.HasSuffix(text, "…") {
				t.Errorf("%d bytes: …%s", len(text), text[len(text)-20:])
			}
			if name == "wechat" && len(text) < most-4 {
				t.Errorf("%d bytes only", len(text))
			}
		})
	}
}

// The signature was computed by openssl dgst -sha256 -hmac.
func TestSignature(t *testing.T) {
	if got, want := alert.Signature("1767323045000", "SECtest-key/+="), "aNZ2wz9fdwrimfgeN2smZm6RMQMLTeocbFe6gc72q4A="; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDingTalkSecretAndKeyword(t *testing.T) {
	r := newReceiver(t, says(`{"errcode":0}`))
	h := newHandler(t, alert.DingTalk(r.options()), nil, map[string]string{
		"dingtalk.webhook": "${env:URL}", "dingtalk.tls": "test", "dingtalk.secret": "${env:KEY}", "dingtalk.keyword": "作业",
	})
	h.HandleError(t.Context(), execution(0), errDisk)
	if err := h.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := <-r.requests
	if text := textIn(t, "dingtalk", got); !strings.HasPrefix(text, "作业\nJob 'settle' failed") {
		t.Errorf("got %s", text)
	}
	milliseconds := got.url.Query().Get("timestamp")
	at, err := strconv.ParseInt(milliseconds, 10, 64)
	if err != nil || time.Since(time.UnixMilli(at)).Abs() > time.Minute {
		t.Errorf("timestamp %q: %v", milliseconds, err)
	}
	if sign := got.url.Query().Get("sign"); sign != alert.Signature(milliseconds, "SECtest-key/+=") {
		t.Errorf("signed %q", sign)
	}
}

// What receivers answer, and whether it is tried again.
func TestAnswers(t *testing.T) {
	const later, never, success = "later", "never", "success"
	for _, tc := range []struct {
		name  string
		reply http.HandlerFunc
		want  string
		text  string // in the log
	}{
		{"wechat", says(`{"errcode":"0"}`), success, ""},
		{"wechat", says(`{"errcode":93000,"errmsg":"invalid webhook T0KEN-QUERY"}`), never, `errcode \"93000\": \"invalid webhook ***\"`},
		{"wechat", says(`{"errcode":"T0KEN-QUERY"}`), never, `errcode \"***\"`},
		{"wechat", says(`{"errcode":45009,"errmsg":"freq out of limit"}`), later, `errcode \"45009\"`},
		{"wechat", says(`<html>`), later, `answered 200 without an errcode: \"<html>\"`},
		{"wechat", says(`{}`), never, `errcode \"\"`},
		{"wechat", status(500, "oops"), later, `answered 500: \"oops\"`},
		{"wechat", status(404, ""), never, `answered 404`},
		{"wechat", status(302, ""), never, `answered 302`},
		{"dingtalk", says(`{"errcode":310000,"errmsg":"sign not match"}`), never, "sign not match"},
		{"dingtalk", says(`{"errcode":130101,"errmsg":"send too fast"}`), later, "send too fast"},
		{"slack", status(404, "no_service"), never, "no_service"},
		{"slack", status(200, "not ok"), never, `answered 200: \"not ok\"`},
		{"slack", status(429, ""), later, "answered 429"},
		{"slack", status(408, ""), later, "answered 408"},
		{"slack", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, later, "EOF"},
		{"slack", func(w http.ResponseWriter, q *http.Request) { reset(w) }, later, "reset"},
		{"slack", hangs, later, "the receiver takes too long"},
		{"slack", says(strings.Repeat("x", 1<<20)), never, "answered 200"},
	} {
		t.Run(tc.name+" "+tc.text, func(t *testing.T) {
			t.Parallel()
			r := newReceiver(t, tc.reply)
			var log logged
			props := map[string]string{tc.name + ".webhook": "${env:URL}", tc.name + ".tls": "test", "alert.attempts": "2"}
			if strings.Contains(tc.text, "too long") {
				props[tc.name+".connectTimeoutMilliseconds"], props[tc.name+".readTimeoutMilliseconds"] = "2000", "1" // a handshake may take long
			}
			h := newHandler(t, messengers[tc.name].of(r.options()), log.logger(), props)
			h.HandleError(t.Context(), execution(0), errDisk)
			err := h.Flush(t.Context())
			requests := len(r.requests)
			switch {
			case tc.want == success && (err != nil || requests != 1),
				tc.want == never && (err == nil || requests != 1),
				tc.want == later && (err == nil || requests != 2 && props["slack.readTimeoutMilliseconds"] == ""):
				t.Errorf("%d requests, %v", requests, err)
			}
			if !strings.Contains(log.String(), tc.text) || strings.Contains(log.String(), "T0KEN") || strings.Contains(log.String(), "127.0.0.1") && tc.text != "reset" {
				t.Errorf("the log: %s", log.String())
			}
		})
	}
}

// hangs never answers. Without the panic its empty answer could still reach the client, which says
// goodbye before it closes the connection.
func hangs(_ http.ResponseWriter, q *http.Request) {
	<-q.Context().Done()
	panic(http.ErrAbortHandler)
}

// reset breaks the connection, as a router does.
func reset(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	_ = conn.(*tls.Conn).NetConn().(*net.TCPConn).SetLinger(0) // the close is a reset then
	_ = conn.(*tls.Conn).NetConn().Close()                     // nothing is read or written any more
}

// Nobody gets the URL but the host in it, and only if it has the right certificate.
func TestTrust(t *testing.T) {
	other := newReceiver(t, says("ok"))
	redirecting := newReceiver(t, func(w http.ResponseWriter, q *http.Request) {
		http.Redirect(w, q, other.URL, http.StatusTemporaryRedirect)
	})
	options := redirecting.options()
	for name, tc := range map[string]struct {
		props map[string]string
		text  string
	}{
		"no root":     {map[string]string{"slack.webhook": "${env:URL}"}, "certificate signed by unknown authority"},
		"part of URL": {map[string]string{"slack.webhook": redirecting.URL + "/${env:KEY}"}, "certificate signed by unknown authority"},
		"redirect":    {map[string]string{"slack.webhook": "${env:URL}", "slack.tls": "test"}, "answered 307"},
		"no secret":   {map[string]string{"slack.webhook": "${env:NONE}"}, `the URL: reference \"${env:NONE}\": there is none`},
		"no URL":      {map[string]string{"slack.webhook": "${env:KEY}"}, "is not an absolute one"},
		"line breaks": {map[string]string{"slack.webhook": "https://localhost/${env:LINES}"}, "is not an absolute one"},
	} {
		t.Run(name, func(t *testing.T) {
			var log logged
			options, attempts := options, 0
			known, vanish := vanishing(options.Lookup)
			options.Lookup = func(name string) (string, bool, error) {
				attempts++
				return known(name)
			}
			h := newHandler(t, alert.Slack(options), log.logger(), with(tc.props, "alert.attempts", "2",
				"slack.connectTimeoutMilliseconds", "60000")) // a busy machine is no attempt that failed
			attempts = 0 // the start has looked, too
			vanish()
			h.HandleError(t.Context(), execution(0), errDisk)
			if err := h.Flush(t.Context()); err == nil {
				t.Error("no error")
			}
			want := 1 // another one cannot help
			if name == "no secret" {
				want = 2 // it may come back
			}
			if attempts != want {
				t.Errorf("%d attempts, want %d", attempts, want)
			}
			if !strings.Contains(log.String(), tc.text) || strings.Contains(log.String(), "T0KEN") || strings.Contains(log.String(), "SECtest") || strings.Contains(log.String(), "https:") {
				t.Errorf("the log: %s", log.String())
			}
		})
	}
	if len(other.requests) > 0 {
		t.Error("the redirect was followed")
	}
	var log logged
	options.Lookup = lookup(map[string]string{"env:URL": "https://127.0.0.1:1/T0KEN"}) // a port that nobody is given
	h := newHandler(t, alert.Slack(options), log.logger(), map[string]string{"slack.webhook": "${env:URL}", "alert.attempts": "1"})
	h.HandleError(t.Context(), execution(0), errDisk)
	if err := h.Flush(t.Context()); err == nil || !strings.Contains(log.String(), "connection refused") || strings.Contains(log.String(), "T0KEN") {
		t.Errorf("Flush: %v, the log: %s", err, log.String())
	}
}

// Flush gives up the request under way when its time is over.
func TestFlushCancels(t *testing.T) {
	r := newReceiver(t, hangs)
	h := newHandler(t, alert.Slack(r.options()), nil, map[string]string{"slack.webhook": "${env:URL}", "slack.tls": "test", "slack.readTimeoutMilliseconds": "300000"})
	h.HandleError(t.Context(), execution(0), errDisk)
	<-r.requests
	ctx, cancel := context.WithCancelCause(t.Context())
	flushed := make(chan error)
	go func() { flushed <- h.Flush(ctx) }()
	cancel(errors.New("the time is over"))
	if err := <-flushed; err == nil || !strings.Contains(err.Error(), "1 failures or recoveries: the time is over") {
		t.Errorf("Flush: %v", err)
	}
}

// The time in Retry-After is obeyed.
func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tc := range []struct {
		status      int
		header      string
		least, most time.Duration
	}{
		{429, "", time.Second / 2, time.Second},
		{429, "30", 30 * time.Second, 33 * time.Second},
		{503, "30", 30 * time.Second, 33 * time.Second},
		{503, "Fri, 02 Jan 2026 03:05:05 GMT", time.Minute, 66 * time.Second},
		{503, "Fri, 02 Jan 2026 03:03:05 GMT", time.Second / 2, time.Second},
		{429, "-1", time.Second / 2, time.Second},
		{429, "soon", time.Second / 2, time.Second},
		{429, "99999999999", time.Second / 2, 330 * time.Second},
		{429, "86400", 5 * time.Minute, 330 * time.Second},
		{500, "30", time.Second / 2, time.Second},
	} {
		if got := alert.BackoffAfter(tc.status, tc.header, now); got < tc.least || got > tc.most {
			t.Errorf("%d with %q: again after %v, want %v to %v", tc.status, tc.header, got, tc.least, tc.most)
		}
	}
}
