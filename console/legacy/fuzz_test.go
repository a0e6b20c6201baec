package legacy

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// Whatever is sent, nothing panics, and no answer is a failure of ours.
func FuzzRoutes(f *testing.F) {
	for _, file := range []string{"testdata/console-2.1.5.golden", "testdata/ui-3.0.golden"} {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for lines := bufio.NewScanner(strings.NewReader(string(text))); lines.Scan(); {
			if question, ok := strings.CutPrefix(lines.Text(), "> "); ok {
				parts := append(strings.SplitN(question, " ", 4), "")
				f.Add(parts[1], parts[2], parts[3], strings.HasPrefix(file, "testdata/ui"))
			}
		}
	}
	w := newWorld(f)
	f.Fuzz(func(t *testing.T, method, target, body string, later bool) {
		if len(target) > 4000 || len(body) > maxBody || !strings.HasPrefix(target, "/api/") || strings.ContainsAny(method+target, " \r\n\t\x00\x7f") {
			return
		}
		r, err := http.NewRequest(method, "http://console.example"+target, strings.NewReader(body))
		if err != nil {
			return // no client could send it
		}
		r.Header.Set("Content-Type", "application/json")
		if later {
			r.Header.Set("Access-Token", "root")
		} else {
			r.SetBasicAuth("root", "root")
		}
		answer := httptest.NewRecorder()
		w.table.ServeHTTP(answer, r)
		isOurs := answer.Code == http.StatusInternalServerError || strings.Contains(answer.Body.String(), `"errorCode":500`)
		if isOurs && !strings.Contains(answer.Body.String(), errUnreached.Error()) {
			t.Errorf("%s %s %s: %d %s", method, target, body, answer.Code, answer.Body)
		}
	})
}
