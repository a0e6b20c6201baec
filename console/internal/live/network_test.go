package live_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/live"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/ops"
)

// wrapped is what middlewares put around a writer; hidden is one of those that hide what is below.
type wrapped struct{ http.ResponseWriter }

func (w wrapped) Unwrap() http.ResponseWriter { return w.ResponseWriter }

type hidden struct{ http.ResponseWriter }

// Events get through at once with HTTP/1.1 and 2, by middlewares, and although the server bounds the time of a request.
// What cannot stream says so.
func TestNetwork(t *testing.T) {
	for name, tt := range map[string]struct {
		isHTTP2 bool
		around  func(http.ResponseWriter) http.ResponseWriter
		want    int
	}{
		"HTTP/1.1":           {false, func(w http.ResponseWriter) http.ResponseWriter { return w }, http.StatusOK},
		"HTTP/2":             {true, func(w http.ResponseWriter) http.ResponseWriter { return w }, http.StatusOK},
		"HTTP/1.1, wrapped":  {false, func(w http.ResponseWriter) http.ResponseWriter { return wrapped{w} }, http.StatusOK},
		"HTTP/2, wrapped":    {true, func(w http.ResponseWriter) http.ResponseWriter { return wrapped{w} }, http.StatusOK},
		"no way to flush it": {false, func(w http.ResponseWriter) http.ResponseWriter { return hidden{w} }, http.StatusInternalServerError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := memory.NewStore(memory.Options{})
			t.Cleanup(store.Close)
			reg, err := store.Dial(t.Context(), memory.Config{Namespace: "shop"})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := reg.Close(context.Background()); err != nil {
					t.Error(err)
				}
			})
			w := &world{t: t, reg: reg}
			w.put("a=1")
			anna := &access.Principal{Name: "anna", Grants: []access.Grant{{Role: access.Viewer}}}
			o := live.Options{
				Ops:       func(context.Context, string) (*ops.Ops, error) { return ops.New(reg), nil },
				Who:       func(*http.Request) (*access.Principal, error) { return anna, nil },
				Fail:      fail,
				Heartbeat: 200 * time.Millisecond,
			}
			l, err := live.New(o)
			if err != nil {
				t.Fatal(err)
			}
			table := &route.Table{Who: o.Who, Fail: fail}
			if err := l.Add(frame{table}); err != nil {
				t.Fatal(err)
			}
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				// As by the server's time-outs, which would bound the handshake, too: a busy machine may take longer for that.
				control, soon := http.NewResponseController(w), time.Now().Add(time.Second)
				if err := errors.Join(control.SetReadDeadline(soon), control.SetWriteDeadline(soon)); err != nil {
					t.Error(err)
				}
				table.ServeHTTP(tt.around(w), r)
			}))
			server.EnableHTTP2 = tt.isHTTP2
			server.StartTLS()
			t.Cleanup(server.Close)
			t.Cleanup(func() {
				if err := l.Close(context.Background()); err != nil {
					t.Error(err)
				}
			})
			head, err := server.Client().Head(server.URL + jobs)
			if err != nil || head.StatusCode != tt.want {
				t.Errorf("HEAD: %v, %v", head, err)
			}
			answer, err := server.Client().Get(server.URL + jobs)
			if err != nil || answer.StatusCode != tt.want || answer.ProtoMajor == 2 != tt.isHTTP2 {
				t.Fatalf("%v, %v", answer, err)
			}
			defer answer.Body.Close()
			if tt.want != http.StatusOK {
				if text, err := io.ReadAll(answer.Body); err != nil || !strings.Contains(string(text), live.ErrStream.Error()) || strings.Contains(answer.Header.Get("Content-Type"), "event") {
					t.Errorf("%s, %v, %v", text, err, answer.Header)
				}
				return
			}
			lines := bufio.NewScanner(answer.Body)
			lines.Buffer(nil, 1<<20)
			has := func(what string) {
				t.Helper()
				for lines.Scan() {
					if strings.HasPrefix(lines.Text(), what) {
						return
					}
				}
				t.Fatalf("no %q: %v", what, lines.Err())
			}
			has("event: reset")
			for range 8 { // longer than the server's limits
				has("event: beat")
			}
			w.put("a=2")
			has("event: update")
			if err := l.Close(t.Context()); err != nil {
				t.Error(err)
			}
			has("event: bye")
			rest := 0
			for lines.Scan() {
				rest++
			}
			if rest != 2 || lines.Err() != nil { // its data, and an empty line
				t.Errorf("%d lines after the end, %v", rest, lines.Err())
			}
		})
	}
}
