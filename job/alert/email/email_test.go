package email_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/alert"
	"github.com/elasticjob-go/elasticjob/job/alert/email"
)

type handler interface {
	job.ErrorHandler
	job.Flusher
}

func newHandler(t *testing.T, o alert.Options, log *slog.Logger, props map[string]string) handler {
	t.Helper()
	h, err := email.Type(o).ErrorHandler(job.Config{Name: "settle", Props: props}, log)
	if err != nil {
		t.Fatal(err)
	}
	return h.(handler)
}

// fail tells of a failure, and waits until it is told.
func fail(t *testing.T, h handler, text string) error {
	t.Helper()
	h.HandleError(t.Context(), job.ShardingContext{JobName: "settle", Item: 3, TaskID: "task-1", InstanceID: "worker-1", Attempt: 1, Source: job.SourceNormal}, errors.New(text))
	return h.Flush(t.Context())
}

type logged struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *logged) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// parts returns the parts of a mail by their content type.
func parts(t *testing.T, m *mail.Message) map[string]string {
	t.Helper()
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("%s: %v", kind, err)
	}
	found := map[string]string{}
	for r := multipart.NewReader(m.Body, params["boundary"]); ; {
		part, err := r.NextRawPart()
		if err == io.EOF {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		if part.Header.Get("Content-Transfer-Encoding") != "quoted-printable" {
			t.Fatalf("part %v", part.Header)
		}
		text, err := io.ReadAll(quotedprintable.NewReader(part))
		if err != nil {
			t.Fatal(err)
		}
		kind, _, _ := mime.ParseMediaType(part.Header.Get("Content-Type"))
		found[kind] = strings.ReplaceAll(string(text), "\r\n", "\n")
	}
}

func TestMail(t *testing.T) {
	for _, tc := range []struct {
		way   string
		login bool
		props []string
	}{
		{implicitTLS, true, nil},
		{startTLS, true, []string{"email.useSsl", "false"}},
		{implicitTLS, false, nil},
		{clearText, false, []string{"email.useSsl", "false", "email.starttls", "off"}},
	} {
		t.Run(fmt.Sprint(tc.way, " ", tc.login), func(t *testing.T) {
			office := newPostOffice(t, tc.way)
			office.login = tc.login
			props := office.props(append(tc.props, "email.cc", "cc@example.com", "email.bcc", "bcc@example.com", "email.debug", "true", "email.subject", "作业 failed")...)
			if tc.login {
				props["email.username"], props["email.password"] = "jobs", "${env:PASSWORD}"
			}
			var log logged
			h := newHandler(t, office.options(), log.logger(), props)
			if err := fail(t, h, "disk <b>full</b> & broken"); err != nil {
				t.Fatal(err, log.String())
			}
			got := <-office.mails
			if got.from != "jobs@example.com" || !slices.Equal(got.to, []string{"ops@example.com", "dev@example.com", "cc@example.com", "bcc@example.com"}) ||
				got.tls != (tc.way != clearText) || (got.user == "jobs") != tc.login {
				t.Errorf("got %+v", got)
			}
			m, err := mail.ReadMessage(bytes.NewReader(got.data))
			if err != nil {
				t.Fatal(err)
			}
			subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
			if err != nil || subject != "作业 failed" || m.Header.Get("From") != `"Jobs" <jobs@example.com>` || m.Header.Get("To") != `<ops@example.com>, "Dev" <dev@example.com>` ||
				m.Header.Get("Cc") != "<cc@example.com>" || m.Header.Get("Bcc") != "" || m.Header.Get("Auto-Submitted") != "auto-generated" || m.Header.Get("Message-Id") == "" {
				t.Errorf("%v: %v", err, m.Header)
			}
			found := parts(t, m)
			if plain := found["text/plain"]; !strings.HasPrefix(plain, "Job 'settle' failed: item 3\n") || !strings.HasSuffix(plain, "\nError: disk <b>full</b> & broken") {
				t.Errorf("plain: %s", plain)
			}
			if html := found["text/html"]; !strings.Contains(html, "disk &lt;b&gt;full&lt;/b&gt; &amp; broken") || !strings.Contains(html, "<h3>Job &#39;settle&#39; failed: item 3</h3>") {
				t.Errorf("html: %s", html)
			}
			// email.debug shows the dialogue, and no password, in no encoding.
			if !strings.Contains(log.String(), "MAIL FROM:<jobs@example.com>") || strings.Contains(log.String(), "s3cret") || strings.Contains(log.String(), "AGpvYnMA") {
				t.Errorf("the log: %s", log.String())
			}
		})
	}
}

// What a server answers, and whether the mail is sent again.
func TestAnswers(t *testing.T) {
	for name, tc := range map[string]struct {
		way   string
		props []string
		reply func(n int) error
		login bool
		count int // of mails that the server has seen
		// attempts is how often the password was looked up, if there is one.
		attempts int
		fails    bool
		text     string // in the log
	}{
		"later": {way: implicitTLS, reply: func(n int) error {
			if n == 1 {
				return &smtp.SMTPError{Code: 451, Message: "greylisted"}
			}
			return nil
		}, count: 2},
		"always later": {way: implicitTLS, reply: func(int) error { return &smtp.SMTPError{Code: 451, Message: "greylisted"} }, count: 2, fails: true, text: "greylisted"},
		"never":        {way: implicitTLS, reply: func(int) error { return &smtp.SMTPError{Code: 554, Message: "spam"} }, count: 1, fails: true, text: "spam"},
		"no user":      {way: implicitTLS, login: true, fails: true, text: "502"},
		"wrong password": {way: implicitTLS, login: true, props: []string{"email.username", "jobs", "email.password", "${env:WRONG}"},
			attempts: 1, fails: true, text: "bad user or password ***"},
		"no password":             {way: implicitTLS, props: []string{"email.username", "jobs", "email.password", "${env:NONE}"}, fails: true, text: `the password: reference \"${env:NONE}\": there is none`},
		"no root":                 {way: implicitTLS, props: []string{"email.tls", "", "email.username", "jobs", "email.password", "${env:PASSWORD}"}, attempts: 1, fails: true, text: "signed by unknown authority"},
		"another name":            {way: implicitTLS, props: []string{"email.host", "localhost"}, fails: true, text: "not localhost"},
		"name by trust":           {way: implicitTLS, props: []string{"email.host", "localhost", "email.ssl.trust", "mail.example.org, example.com"}, count: 1},
		"wrong trust":             {way: implicitTLS, props: []string{"email.host", "localhost", "email.ssl.trust", "mail.example.org"}, fails: true, text: "not mail.example.org"},
		"trust, no root":          {way: implicitTLS, props: []string{"email.host", "localhost", "email.ssl.trust", "example.com", "email.tls", ""}, fails: true, text: "signed by unknown authority"},
		"name by trust, STARTTLS": {way: startTLS, props: []string{"email.useSsl", "false", "email.host", "localhost", "email.ssl.trust", "example.com"}, count: 1},
		"no STARTTLS":             {way: clearText, props: []string{"email.useSsl", "false"}, fails: true, text: "does not support STARTTLS"},
		"no TLS at all":           {way: clearText, fails: true, text: "first record does not look like a TLS handshake"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			office := newPostOffice(t, tc.way)
			office.reply, office.login = tc.reply, tc.login
			var log logged
			h := newHandler(t, office.options(), log.logger(), office.props(append(tc.props, "alert.attempts", "2")...))
			office.started, office.attempts = true, 0
			err := fail(t, h, "disk full")
			if (err != nil) != tc.fails {
				t.Errorf("Flush: %v", err)
			}
			if office.attempts != tc.attempts {
				t.Errorf("%d attempts, want %d", office.attempts, tc.attempts)
			}
			if office.count != tc.count || (len(office.mails) == 1) == tc.fails {
				t.Errorf("%d mails came, %d were taken", office.count, len(office.mails))
			}
			if !strings.Contains(log.String(), tc.text) || strings.Contains(log.String(), "wr0ng") {
				t.Errorf("the log: %s", log.String())
			}
		})
	}
}

// speaker is a server that says lines, and hears one after each. Then it hangs up, or hangs.
func speaker(t *testing.T, hangs bool, lines ...string) (port int, end func()) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	spoken := make(chan struct{})
	go func() {
		defer close(spoken)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		r := bufio.NewReader(conn)
		for _, line := range lines {
			if _, err := conn.Write([]byte(line)); err != nil {
				return
			}
			for {
				heard, err := r.ReadString('\n')
				if err != nil {
					return
				}
				if inData := strings.HasPrefix(line, "354"); !inData || heard == ".\r\n" {
					break
				}
			}
		}
		if hangs {
			_, _ = io.Copy(io.Discard, r) // until the other side ends
		}
	}()
	return l.Addr().(*net.TCPAddr).Port, func() {
		_ = l.Close() // nothing is read or written any more
		<-spoken
	}
}

var clear = []string{"email.useSsl", "false", "email.starttls", "off"}

// A mail that was taken counts as sent, whatever comes after that: otherwise it would come
// twice.
func TestTakenIsSent(t *testing.T) {
	port, end := speaker(t, false, "220 x\r\n", "250 x\r\n", "250 ok\r\n", "250 ok\r\n", "250 ok\r\n", "354 go on\r\n", "250 taken\r\n")
	defer end()
	var log logged
	office := &postOffice{port: port}
	h := newHandler(t, office.options(), log.logger(), office.props(append(clear, "email.to", "ops@example.com", "email.debug", "true")...))
	if err := fail(t, h, "disk full"); err != nil {
		t.Errorf("%v; %s", err, log.String())
	}
}

// A server that hangs in any phase holds Flush no longer than its context, and a mail no
// longer than its time-out.
func TestHang(t *testing.T) {
	phases := []string{"220 x\r\n", "250 x\r\n", "250 ok\r\n", "250 ok\r\n"}
	for n := range len(phases) + 1 {
		for _, mode := range []string{"Flush", "time-out"} {
			t.Run(fmt.Sprint(n, " ", mode), func(t *testing.T) {
				port, end := speaker(t, true, phases[:n]...)
				defer end()
				office := &postOffice{port: port}
				var log logged
				props := office.props(clear...)
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if mode == "time-out" {
					props["email.timeoutMilliseconds"] = "50"
				} else {
					timer := time.AfterFunc(50*time.Millisecond, func() { cancel(errors.New("the time is over")) })
					defer timer.Stop()
				}
				h := newHandler(t, office.options(), log.logger(), props)
				h.HandleError(t.Context(), job.ShardingContext{JobName: "settle"}, errors.New("disk full"))
				err := h.Flush(ctx)
				if err == nil || mode == "Flush" && !strings.Contains(err.Error(), "the time is over") {
					t.Errorf("Flush: %v", err)
				}
				if mode == "time-out" && !strings.Contains(log.String(), "the mail server takes too long") && !strings.Contains(log.String(), "i/o timeout") {
					t.Errorf("the log: %s", log.String())
				}
			})
		}
	}
}
