package httpjob_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/httpjob"
)

// No identifier, number or time in a log looks like a part of it.
const longSecret = "QWERTYUIOPASDFGHJKLZXCVBNMQAZWSXEDCR"

// leaks returns a part of the secret that stands in a text.
func leaks(text string) (string, bool) {
	for i := range len(longSecret) - 4 {
		if part := longSecret[i : i+5]; strings.Contains(text, part) {
			return part, true
		}
	}
	return "", false
}

// Of a secret that stands where a text is cut nothing is shown, and nothing of one that begins
// as another does.
func TestNoPartOfASecret(t *testing.T) {
	t.Setenv("HTTPJOB_LONG", longSecret)
	t.Setenv("HTTPJOB_SHORT", longSecret[:6])
	answer := func(code int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, text) // who reads it notices if it fails
		}
	}
	x := func(n int) string { return strings.Repeat("x", n) }
	broken := func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 %s%s\r\n\r\n", x(405), longSecret) // who reads it notices if it fails
		_ = conn.Close()                                                      // nothing is read or written any more
	}
	for name, tc := range map[string]struct {
		path   string
		answer http.HandlerFunc
	}{
		"as it is":                      {"", answer(500, longSecret)},
		"end of what an error shows":    {"", answer(503, x(180)+longSecret)},
		"end of the text of an error":   {"", broken},
		"end of the URL":                {"/" + x(160) + "/${env:HTTPJOB_LONG}", answer(500, "")},
		"end of what is kept":           {"", answer(200, x(job.MaxOutput-20)+longSecret)},
		"end of what is read":           {"", answer(200, x(job.MaxOutput-10)+longSecret+longSecret)},
		"end of what is read, all over": {"", answer(200, x(10)+strings.Repeat(longSecret, 20_000))},
		"it follows others":             {"", answer(200, strings.Repeat(longSecret, 10)+x(job.MaxOutput-334)+longSecret)},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			p := get(serve(t, tc.answer).URL + tc.path).with(props{
				"http.header.A": "${env:HTTPJOB_SHORT}", "http.header.B": "${env:HTTPJOB_LONG}",
				"http.retry.attempts": "1", "http.retry.backoff.milliseconds": "1",
			})
			end := runOnce(t, job.Config{Props: p}, job.OfType(httpjob.Name, newType(t, httpjob.Options{})),
				job.WithSlog(slog.New(slog.NewTextHandler(&log, nil))))
			all := fmt.Sprintf("%v %s %s", end.Err, end.Output, log.String())
			if part, ok := leaks(all); ok {
				i := strings.Index(all, part)
				t.Errorf("it shows %s: …%s…", part, all[max(0, i-20):min(len(all), i+50)])
			}
			if len(end.Output) > job.MaxOutput {
				t.Errorf("%d bytes are kept", len(end.Output))
			}
		})
	}
}

// Without a secret in it, an answer is kept as far as it was before there were secrets.
func TestAllThatIsKept(t *testing.T) {
	t.Setenv("HTTPJOB_LONG", longSecret)
	for _, n := range []int{0, 100, job.MaxOutput - 1, job.MaxOutput, job.MaxOutput + 1, job.MaxOutput + len(longSecret), 2 * job.MaxOutput} {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(bytes.Repeat([]byte("x"), n)) // who reads it notices if it fails
		}).URL
		end := runHTTP(t, job.Config{Props: get(url).with(props{"http.header.B": "${env:HTTPJOB_LONG}"})})
		if want := min(n, job.MaxOutput); end.Err != nil || len(end.Output) != want {
			t.Errorf("of %d bytes: %v, %d bytes are kept, want %d", n, end.Err, len(end.Output), want)
		}
	}
}
