package console

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
)

// fuzzed chooses the routes that are fuzzed: go test -fuzz FuzzRoutes . -args -routes /api/v1/users
var fuzzed = flag.String("routes", ".", "pattern of the routes to be fuzzed, METHOD /path")

// FuzzRoutes sends to a route whatever comes: no handler panics, none fails in a way that nobody has thought
// of, each answers within its time, and every error of the API is a problem.
func FuzzRoutes(f *testing.F) {
	wanted := regexp.MustCompile(*fuzzed)
	routes := slices.DeleteFunc(allRoutes(f), func(r route.Route) bool { return !wanted.MatchString(nameOf(r)) })
	isFuzzing := flag.Lookup("test.fuzz").Value.String() != ""
	for i, r := range routes {
		if !isFuzzing && i%fuzzedAtOnce > 0 { // the one before tries this one, too
			continue
		}
		f.Add(uint16(i), orders, "dryRun=true&limit=1&job="+orders, "Content-Type: application/merge-patch+json\nIf-None-Match: *", []byte(`{"items":[-1,99999999999],"jobs":[""],"name":"","grants":[{"role":"x"}]}`))
		f.Add(uint16(i), "a\x00\xff", "limit=-1&after=x&wait=1h&from=x&job=%00&page=0&per_page=-1", "If-Match: \"1\"\nIdempotency-Key: k\nLast-Event-ID: 0", []byte(`{"a":`))
		if isFuzzing {
			f.Add(uint16(i), "", queries[nameOf(r)], "Access-Token: mine", []byte(bodies[nameOf(r)]))
		}
	}
	f.Fuzz(func(t *testing.T, i uint16, value, query, headers string, body []byte) {
		synctest.Test(t, func(t *testing.T) {
			town := newTown(t)
			root := somebody("root", access.Grant{Role: access.Admin})
			for k := range min(fuzzedAtOnce, len(routes)) {
				r := routes[(int(i)+k)%len(routes)]
				asked := fuzzedRequest(r, value, query, headers, body)
				if asked == nil {
					continue
				}
				if asked.Header.Get(access.TokenHeader) != "" { // as ElasticJob's later UI asks
					asked.Header.Set(access.TokenHeader, town.session(root).Value())
				}
				asked.Header.Del("Authorization") // it would get no further
				town.choose(t, r, root)
				began := time.Now()
				check(t, r, town.ask(root, asked), time.Since(began))
				if t.Failed() {
					t.Logf("%s %s\n%v\n%.2000q", asked.Method, asked.URL, asked.Header, body)
					t.Log(town.log)
					return
				}
			}
		})
	})
}

// fuzzedAtOnce is how many routes, one after the other, get the same in one town: to build a town takes
// longer than to ask it.
const fuzzedAtOnce = 8

// check says what is wrong with an answer.
func check(t *testing.T, r route.Route, got *httptest.ResponseRecorder, took time.Duration) {
	t.Helper()
	if took > 31*time.Second {
		t.Errorf("%s: took %v", nameOf(r), took)
	}
	if got.Code >= 500 && got.Code != http.StatusServiceUnavailable && got.Code != http.StatusGatewayTimeout {
		t.Errorf("%s: %d %s", nameOf(r), got.Code, got.Body)
	}
	kind := got.Header().Get("Content-Type")
	if strings.HasPrefix(r.Pattern, "/api/v1/") && !strings.Contains(r.Pattern, "/oidc/") && got.Code >= 400 {
		var problem struct{ Status int }
		if err := json.Unmarshal(got.Body.Bytes(), &problem); kind != "application/problem+json" || err != nil || problem.Status != got.Code {
			t.Errorf("%s: %d %s %s: it is no problem (%v)", nameOf(r), got.Code, kind, got.Body, err)
		}
	}
	if strings.HasPrefix(kind, "application/json") && got.Body.Len() > 0 && !json.Valid(got.Body.Bytes()) {
		t.Errorf("%s: %d: it is no JSON: %.500s", nameOf(r), got.Code, got.Body)
	}
}

// fuzzedRequest returns a request; nil if no client could send it. value stands for the last parameter of the
// path, if it is not empty, and the others are as they should be, so that something is found.
func fuzzedRequest(r route.Route, value, query, headers string, body []byte) *http.Request {
	path := request(r, r.Method).URL.EscapedPath()
	if last := strings.LastIndexByte(r.Pattern, '{'); last >= 0 && value != "" {
		name := strings.Trim(r.Pattern[last:last+strings.IndexByte(r.Pattern[last:], '}')+1], "{}")
		fallback, ok := values[name]
		if !ok {
			fallback = "x"
		}
		if at := strings.LastIndex(path, "/"+url.PathEscape(fallback)); at >= 0 {
			path = path[:at+1] + url.PathEscape(value) + path[at+1+len(url.PathEscape(fallback)):]
		}
	}
	target, err := url.ParseRequestURI(path)
	if err != nil {
		return nil
	}
	target.RawQuery = strings.Map(func(c rune) rune {
		if c <= ' ' || c >= 0x7f {
			return -1
		}
		return c
	}, query)
	asked := httptest.NewRequest(r.Method, "/", bytes.NewReader(body))
	asked.URL, asked.RequestURI = target, target.RequestURI()
	asked.Header.Set("Content-Type", "application/json")
	asked.Header.Set("If-Match", "*")
	for line := range strings.Lines(headers) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name != "" && !strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c >= 0x7f }) && len(name) < 100 {
			asked.Header.Set(name, strings.TrimSpace(text))
		}
	}
	return asked
}

func allRoutes(f *testing.F) []route.Route {
	f.Helper()
	return newTown(f).table.Routes()
}
