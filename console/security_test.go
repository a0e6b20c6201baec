package console

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
)

// open are the routes that anybody may use. Whoever adds one does so here, too, on purpose.
var open = []string{
	"GET /healthz", "GET /readyz",
	"GET /api/v1/openapi.json", "GET /api/v1/openapi.yaml", // what there is; not what anybody has
	"POST /api/v1/login", "POST /api/v1/logout", "GET /api/v1/oidc/login", "GET /api/v1/oidc/callback",
	"GET /assets/{hash}/{file}", "GET /assets/{hash}/{folder}/{file}", "GET /favicon.ico",
	"GET /docs", "GET /docs/{file}", "GET /docs/{folder}/{file}", "GET /docs/{language}/{folder}/{file}",
	"POST /api/login", "GET /api/casdoor-login-url", "POST /api/casdoor-login",
}

func nameOf(r route.Route) string { return r.Method + " " + r.Pattern }

func TestOpenRoutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		for _, r := range newTown(t).table.Routes() {
			if r.Need.Scope == route.Open {
				got = append(got, nameOf(r))
			}
		}
		slices.Sort(got)
		if want := slices.Sorted(slices.Values(open)); !slices.Equal(got, want) {
			t.Errorf("anybody may use\n%q, want\n%q", got, want)
		}
	})
}

func grant(role access.Role, namespace, job string) access.Grant {
	g := access.Grant{Role: role}
	if namespace != "" {
		g.Namespaces = []string{namespace}
	}
	if job != "" {
		g.Jobs = []string{job}
	}
	return g
}

// somebody returns who comes by a session of his own.
func somebody(name string, grants ...access.Grant) *access.Principal {
	return &access.Principal{Name: name, Grants: grants}
}

// byCaller reports whether a route finds out by itself which namespace it is about: that which the
// caller has chosen among those that he may see.
func byCaller(r route.Route) bool {
	return r.Need.Scope > route.Everything && !strings.Contains(r.Pattern, "{namespace}")
}

// denied are those who may not use a route, by what they lack.
func denied(r route.Route) map[string]*access.Principal {
	no := map[string]*access.Principal{}
	n := r.Need
	if n.Scope <= route.SignedIn {
		return no
	}
	no["no grant"] = somebody("no-grant")
	for role := access.Viewer; role < n.Role; role++ {
		no["only "+role.String()] = somebody("low", grant(role, "", ""))
		no[role.String()+", and more elsewhere"] = somebody("low-here", grant(role, "", ""), grant(access.Admin, theirs, ""))
	}
	if n.Scope == route.Everything || !byCaller(r) {
		no["wrong namespace"] = somebody("elsewhere", grant(access.Admin, theirs, ""))
	}
	switch n.Scope {
	case route.Everything:
		no["one namespace"] = somebody("one-namespace", grant(access.Admin, ours, ""))
		no["some jobs"] = somebody("some-jobs", grant(access.Admin, "", "zq-our*"))
	case route.AllJobs:
		no["some jobs"] = somebody("some-jobs", grant(access.Admin, "", "zq-our*"))
	case route.Job:
		no["wrong job"] = somebody("wrong-job", grant(access.Admin, ours, hidden), grant(access.Admin, theirs, ""))
	}
	return no
}

// allowed are those who may, with no more than it takes.
func allowed(n route.Need) *access.Principal {
	switch n.Scope {
	case route.Open, route.SignedIn:
		return &access.Principal{User: "anna"}
	case route.Everything:
		return somebody("anna", grant(n.Role, "", ""))
	case route.Job:
		return somebody("anna", grant(n.Role, ours, orders))
	default:
		return somebody("anna", grant(n.Role, ours, ""))
	}
}

// Each route refuses whoever may not use it, and nothing has changed then.
func TestRoutesRefuse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		town := newTown(t)
		synctest.Wait()
		before := town.state(t)
		for _, r := range town.table.Routes() {
			if r.Need.Scope == route.Open {
				continue
			}
			methods := []string{r.Method}
			if r.Method == http.MethodGet {
				methods = append(methods, http.MethodHead)
			}
			for _, method := range methods {
				if got := town.ask(nil, request(r, method)); got.Code != http.StatusUnauthorized {
					t.Errorf("%s %s: nobody: %d %s", method, r.Pattern, got.Code, got.Body)
				}
				for lack, p := range denied(r) {
					town.choose(t, r, p)
					if got := town.ask(p, request(r, method)); got.Code != http.StatusForbidden {
						t.Errorf("%s %s: %s: %d %s", method, r.Pattern, lack, got.Code, got.Body)
					}
				}
			}
		}
		synctest.Wait()
		if after := town.state(t); after != before {
			t.Errorf("refused requests have changed\n%s\nto\n%s", before, after)
		}
	})
}

// Each route lets in who may use it: or it could refuse everybody. Who may see some jobs learns nothing of
// the others there; who may see nothing, nothing at all.
func TestRoutesAllow(t *testing.T) {
	routes := routesOf(t)
	t.Run("GET", func(t *testing.T) { // they change nothing, so one town does
		synctest.Test(t, func(t *testing.T) {
			town := newTown(t)
			for _, r := range routes {
				if r.Method == http.MethodGet {
					town.testAllow(t, r)
				}
			}
		})
	})
	for _, r := range routes {
		if r.Method == http.MethodGet {
			continue
		}
		t.Run(nameOf(r), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { newTown(t).testAllow(t, r) })
		})
	}
}

func (town *town) testAllow(t *testing.T, r route.Route) {
	t.Helper()
	ask := func(p *access.Principal) (*http.Request, *httptest.ResponseRecorder) {
		town.choose(t, r, p)
		asked := request(r, r.Method)
		return asked, town.ask(p, asked)
	}
	_, got := ask(allowed(r.Need))
	if isRefused := got.Code == http.StatusUnauthorized || got.Code == http.StatusForbidden || got.Code >= 500; isRefused && r.Need.Scope != route.Open {
		t.Errorf("%s: %d %s", nameOf(r), got.Code, got.Body)
	}
	if testing.Verbose() {
		t.Logf("%s: %d %.300s", nameOf(r), got.Code, got.Body)
	}
	look := func(p *access.Principal, secrets ...string) {
		asked, got := ask(p)
		for _, secret := range secrets {
			if strings.Contains(asked.URL.Path+bodies[nameOf(r)], secret) {
				continue // he knows it already
			}
			if strings.Contains(got.Body.String(), secret) {
				t.Errorf("%s: %s learns of %s: %d %s", nameOf(r), p.Name, secret, got.Code, got.Body)
			}
		}
	}
	not := []string{hidden, elsewhere, hiddenIP, otherIP, theirs, "past-db8"}
	look(somebody("of-nothing"), append(not, ours, orders, ordersIP, database)...)
	look(somebody("of-theirs", grant(access.Admin, theirs, "")), ours, orders, hidden, hiddenIP, ordersIP)
	look(somebody("of-two-kinds", grant(access.Viewer, ours, orders), grant(access.Admin, theirs, "none")), hidden, elsewhere, hiddenIP)
	look(somebody("of-orders", grant(access.Admin, ours, orders)), not...)
}

// What is not safe is refused when a page of another site may have sent it.
func TestRoutesRefuseOtherSites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		town := newTown(t)
		synctest.Wait()
		before := town.state(t)
		admin := somebody("root", grant(access.Admin, "", ""))
		for _, r := range town.table.Routes() {
			if r.Method == http.MethodGet {
				continue
			}
			for name, set := range map[string]func(http.Header){
				"Origin":                    func(h http.Header) { h.Set("Origin", "https://evil.example") },
				"Origin null":               func(h http.Header) { h.Set("Origin", "null") },
				"Sec-Fetch-Site":            func(h http.Header) { h.Set("Sec-Fetch-Site", "cross-site") },
				"Sec-Fetch-Site: same-site": func(h http.Header) { h.Set("Sec-Fetch-Site", "same-site") },
				"form":                      func(h http.Header) { h.Set("Sec-Fetch-Site", "cross-site"); h.Set("Content-Type", "text/plain") },
			} {
				asked := request(r, r.Method)
				set(asked.Header)
				if got := town.ask(admin, asked); got.Code != http.StatusForbidden {
					t.Errorf("%s %s: %s: %d %s", r.Method, r.Pattern, name, got.Code, got.Body)
				}
			}
		}
		synctest.Wait()
		if after := town.state(t); after != before {
			t.Errorf("refused requests have changed\n%s\nto\n%s", before, after)
		}
	})
}

// GET changes nothing.
func TestSafeRoutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		town := newTown(t)
		synctest.Wait()
		admin := somebody("root", grant(access.Admin, "", ""))
		for _, r := range town.table.Routes() {
			if r.Method != http.MethodGet {
				continue
			}
			before := town.state(t)
			town.choose(t, r, admin)
			town.ask(admin, request(r, http.MethodGet))
			town.ask(admin, request(r, http.MethodHead))
			synctest.Wait()
			if after := town.state(t); after != before {
				t.Errorf("%s has changed\n%s\nto\n%s", nameOf(r), before, after)
			}
		}
	})
}

// routesOf returns the routes of a console.
func routesOf(t *testing.T) (routes []route.Route) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { routes = newTown(t).table.Routes() })
	return routes
}
