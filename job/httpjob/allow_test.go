package httpjob_test

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/allow"
	"github.com/elasticjob-go/elasticjob/job/httpjob"
)

// Jobs go where the list says, whatever their configurations, the server and connections of other jobs are.
func TestAllow(t *testing.T) {
	asked := make(chan string, 10)
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
		switch r.URL.Path {
		case "/redirect":
			http.Redirect(w, r, "http://"+strings.Replace(r.Host, "localhost", "127.0.0.1", 1)+"/inside", http.StatusFound)
		case "/poll":
			w.Header().Set("Location", "http://"+strings.Replace(r.Host, "localhost", "127.0.0.1", 1)+"/inside")
			w.WriteHeader(http.StatusAccepted)
		}
	})
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	list, err := allow.New(allow.Rule{Jobs: "pay-*", Hosts: []string{"localhost"}}, allow.Rule{Jobs: "inside", Networks: []string{"127.0.0.0/8", "::1/128"}})
	if err != nil {
		t.Fatal(err)
	}
	requests := newType(t, httpjob.Options{Allow: list})
	run := func(name, url string, more props) error {
		h, err := requests.Handler(job.Config{Name: name, ShardingTotalCount: 1, Props: get(url).with(more)})
		if err != nil {
			return err
		}
		sc := sharding()
		sc.JobName = name
		return h.Execute(t.Context(), sc)
	}
	for _, tc := range []struct {
		job, url string
		more     props
		asked    string // the server is, for this
		ok       bool
	}{
		{"inside", "http://127.0.0.1:PORT/", nil, "/", true},
		{"inside", "http://localhost:PORT/", nil, "/", true},
		{"pay-in", "http://localhost:PORT/", nil, "/", true},
		{"pay-in", "http://127.0.0.1:PORT/", nil, "", false}, // there is a connection of another job
		{"pay-in", "http://localhost:PORT/redirect", nil, "/redirect", false},
		{"pay-in", "http://localhost:PORT/poll", props{"http.poll": "true", "http.poll.interval.milliseconds": "1"}, "/poll", false},
		{"pay-in", "http://${shardingParameter}:PORT/", nil, "", false},
		{"other", "http://localhost:PORT/", nil, "", false},
	} {
		err := run(tc.job, strings.ReplaceAll(tc.url, "PORT", port), tc.more)
		if (err == nil) != tc.ok || err != nil && !errors.Is(err, allow.ErrNotAllowed) {
			t.Errorf("%s, %s: %v", tc.job, tc.url, err)
		}
		got := ""
		select {
		case got = <-asked:
		default:
		}
		if got != tc.asked || len(asked) > 0 {
			t.Errorf("%s, %s: the server was asked for %q, want %q", tc.job, tc.url, got, tc.asked)
		}
	}
}
