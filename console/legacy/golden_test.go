package legacy

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the answers into the golden files")

// A golden file has requests, and the answer to each:
//
//	> root POST /api/registry-center/connect {"name":"prod"}
//	< 200 true
//
// What reads is asked again until the answer is right: what operators change takes a moment.
func golden(t *testing.T, file string, prepare func(r *http.Request, who string)) *world {
	w := newWorld(t)
	path := filepath.Join("testdata", file)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		question, isQuestion := strings.CutPrefix(line, "> ")
		if !isQuestion {
			if !strings.HasPrefix(line, "< ") {
				fmt.Fprintln(&out, line)
			}
			continue
		}
		var want string
		if !*update {
			lines.Scan()
			n++
			want = lines.Text()
		}
		parts := append(strings.SplitN(question, " ", 4), "")
		ask := func() string {
			r := httptest.NewRequest(parts[1], parts[2], strings.NewReader(parts[3]))
			if parts[3] != "" {
				r.Header.Set("Content-Type", "application/json")
			}
			prepare(r, parts[0])
			return "< " + w.send(r)
		}
		got := ask()
		for end := time.Now().Add(patience / 2); got != want && parts[1] == "GET" && time.Now().Before(end) && !*update; got = ask() {
			<-again.C // another process has to see what was changed
		}
		if *update && parts[1] == "GET" {
			<-time.After(time.Second)
			got = ask()
		}
		if got != want && !*update {
			t.Errorf("%s:%d: %s\n got %s\nwant %s", file, n, question, got, want)
		}
		fmt.Fprintf(&out, "%s\n%s\n", line, got)
	}
	if *update {
		if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// instance is the part of an instance's id that is another one each time.
var instance = regexp.MustCompile(`\d+-[0-9a-f]{12,}`)

// send returns the status and the body, with \n for line breaks.
func (w *world) send(r *http.Request) string {
	w.t.Helper()
	answer := httptest.NewRecorder()
	w.table.ServeHTTP(answer, r)
	text := instance.ReplaceAllString(answer.Body.String(), "PROCESS")
	if strings.HasPrefix(answer.Header().Get("Content-Type"), "text/plain") {
		text = "(text) " + strings.TrimSuffix(text, "\n")
	}
	return strings.TrimSpace(fmt.Sprint(answer.Code, " ", strings.ReplaceAll(text, "\n", `\n`)))
}

func TestConsole(t *testing.T) {
	w := golden(t, "console-2.1.5.golden", func(r *http.Request, who string) {
		if who != "-" {
			r.SetBasicAuth(who, who)
		}
	})
	// What is in no namespace is in no audit.
	log := w.log.String()
	for _, change := range []string{
		`"connections: a namespace was put" connection=new`, `"connections: a namespace was removed" connection=new`,
		`"connections: a database was put" connection=pg`, `"connections: a database was removed" connection=pg`,
	} {
		if strings.Count(log, change+" by=root from=192.0.2.7") != 1 {
			t.Errorf("%s is not in the log once", change)
		}
	}
	if strings.Contains(log, "hunter") {
		t.Errorf("a secret in the log: %s", log)
	}
}

func TestUI(t *testing.T) {
	golden(t, "ui-3.0.golden", func(r *http.Request, who string) {
		if who != "-" {
			r.Header.Set("Access-Token", who)
		}
	})
}
