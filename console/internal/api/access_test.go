package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/console/internal/api"
	"github.com/elasticjob-go/elasticjob/console/internal/api/apitest"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
)

const (
	annasPassword = "Tr0ub4dor-and-3"
	bensPassword  = "plum-Kettle-77-x"
)

// gate is an API with users: anna may do everything, ben steers some jobs.
type gate struct {
	*route.Table
	control *access.Control
	checker *apitest.Checker
	said    strings.Builder // all answers and events
}

func newGate(t *testing.T) *gate {
	t.Helper()
	file := access.File(filepath.Join(t.TempDir(), "users.yaml"))
	err := file.Change(context.Background(), func(u *access.Users) error {
		if err := u.Add("anna", annasPassword, []access.Grant{{Role: access.Admin}}); err != nil {
			return err
		}
		return u.Add("ben", bensPassword, []access.Grant{{Role: access.Operator, Namespaces: []string{"prod*"}, Jobs: []string{"pay-*"}}})
	})
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{}
	g.control, err = access.Open(access.Options{File: file, Tell: func(e access.Event) {
		text, err := json.Marshal(e)
		if err != nil {
			t.Error(err)
		}
		_, _ = g.said.Write(text) // a Builder never fails
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.control.Close(); err != nil {
			t.Error(err)
		}
	})
	g.Table = &route.Table{Fail: api.Fail, Who: g.control.Authenticate}
	logout := func(_ context.Context, name string) (string, error) {
		if name == "oidc:carl" {
			return "https://provider.example/end?client_id=console", nil
		}
		return "", nil
	}
	if _, err := api.Add(g.Table, api.Options{Connections: connection.Fixed(nil), Access: g.control, LogoutURL: logout}); err != nil {
		t.Fatal(err)
	}
	if g.checker, err = apitest.NewChecker(g.Table); err != nil {
		t.Fatal(err)
	}
	return g
}

// ask sends a request with headers (name: value), one in each line, and returns status, answer and cookie.
func (g *gate) ask(t *testing.T, header, method, path, body string) (int, string, string) {
	r := httptest.NewRequest(method, api.Prefix+path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for line := range strings.SplitSeq(header, "\n") {
		if name, value, ok := strings.Cut(line, ": "); ok {
			r.Header.Set(name, value)
		}
	}
	w := httptest.NewRecorder()
	g.ServeHTTP(w, r)
	if err := g.checker.Check(r, r.Pattern, w.Result()); err != nil {
		t.Error(err)
	}
	_, _ = g.said.WriteString(w.Body.String()) // a Builder never fails
	cookie := ""
	if cookies := w.Result().Cookies(); len(cookies) == 1 {
		cookie = "Cookie: " + cookies[0].Name + "=" + cookies[0].Value
	}
	return w.Code, w.Body.String(), cookie
}

func (g *gate) want(t *testing.T, status int, part, header, method, path, body string) string {
	t.Helper()
	code, answer, cookie := g.ask(t, header, method, path, body)
	if code != status || !strings.Contains(answer, part) {
		t.Errorf("%s %s: %d %s; want %d %s", method, path, code, answer, status, part)
	}
	return cookie
}

func (g *gate) login(t *testing.T, name, password string) string {
	t.Helper()
	return g.want(t, 200, `"name":"`+name+`"`, "", "POST", "/login", `{"name":"`+name+`","password":"`+password+`"}`)
}

func (g *gate) token(t *testing.T, header, path, body string) string {
	t.Helper()
	code, answer, _ := g.ask(t, header, "POST", path, body)
	var made api.MadeToken
	if err := json.Unmarshal([]byte(answer), &made); err != nil || code != http.StatusCreated {
		t.Fatalf("%s: %d %s", path, code, answer)
	}
	return "Authorization: Bearer " + made.Token
}

func TestLogInAndOut(t *testing.T) {
	g := newGate(t)
	g.want(t, 401, "not-logged-in", "", "GET", "/me", "")
	g.want(t, 401, "wrong name or password", "", "POST", "/login", `{"name":"ben","password":"`+annasPassword+`"}`)
	g.want(t, 422, "property password", "", "POST", "/login", `{"name":"ben"}`)
	ben := g.login(t, "ben", bensPassword)
	g.want(t, 200, `"grants":[{"role":"operator","namespaces":["prod*"],"jobs":["pay-*"]}],"hasPassword":true`, ben, "GET", "/me", "")
	g.want(t, 200, `"mine":true`, ben, "GET", "/me/sessions", "")
	if gone := g.want(t, 200, "{}", ben, "POST", "/logout", ""); gone != "Cookie: elasticjob=" {
		t.Errorf("cookie %q", gone)
	}
	g.want(t, 401, "the session is over", ben, "GET", "/me", "")
	g.want(t, 200, "{}", ben, "POST", "/logout", "") // again
	if again := g.login(t, "ben", bensPassword); again == ben {
		t.Error("the same session")
	}
	if code, answer, cookie := g.ask(t, ben, "POST", "/login", `{"name":"ben","password":"`+bensPassword+`"}`); code != 200 || cookie == "" {
		t.Errorf("with an old cookie: %d %s", code, answer)
	}

	// Who has come by a provider is told where his log-in there ends, once he is known.
	s, err := g.control.LoginAs("oidc:carl", nil, netip.Addr{})
	if err != nil {
		t.Fatal(err)
	}
	g.want(t, 200, `{"providerURL":"https://provider.example/end?client_id=console"}`, "Access-Token: "+s.Value(), "POST", "/logout", "")
	g.want(t, 401, "over", "Access-Token: "+s.Value(), "GET", "/me", "")

	// Guessing has to wait.
	for range 20 {
		g.ask(t, "", "POST", "/login", `{"name":"ben","password":"guess"}`)
	}
	w, r := httptest.NewRecorder(), httptest.NewRequest("POST", api.Prefix+"/login", strings.NewReader(`{"name":"ben","password":"guess"}`))
	r.Header.Set("Content-Type", "application/json")
	g.ServeHTTP(w, r)
	if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
}

// Who may see nothing is told why, and who can change that; so does the trail.
func TestNoGrants(t *testing.T) {
	g := newGate(t)
	anna := g.login(t, "anna", annasPassword)
	if _, me, _ := g.ask(t, anna, "GET", "/me", ""); strings.Contains(me, "noGrants") {
		t.Error(me)
	}
	g.want(t, 201, "", anna, "POST", "/users", `{"name":"eve","password":"another-Kettle-9","grants":[]}`)
	eve := g.login(t, "eve", "another-Kettle-9")
	g.want(t, 200, `An admin of the console can give them, to the user \"eve\"."`, eve, "GET", "/me", "")
	if !strings.Contains(g.said.String(), `"detail":"by password, without any grants"`) {
		t.Error(g.said.String())
	}
	g.Table.Who = func(*http.Request) (*access.Principal, error) {
		return &access.Principal{Name: "proxy:carl", Key: "proxy:carl", Session: true}, nil
	}
	g.want(t, 200, "Who runs the console can give them, to one of your groups.", "", "GET", "/me", "")
}

func TestChangePassword(t *testing.T) {
	g := newGate(t)
	one, two := g.login(t, "ben", bensPassword), g.login(t, "ben", bensPassword)
	token := g.token(t, one, "/me/tokens", `{"name":"t"}`)
	g.want(t, 403, "a token cannot do this", token, "PUT", "/me/password", `{"old":"`+bensPassword+`","new":"another-Kettle-9"}`)
	g.want(t, 422, "body.old", one, "PUT", "/me/password", `{"old":"x","new":"another-Kettle-9"}`)
	g.want(t, 422, "body.new", one, "PUT", "/me/password", `{"old":"`+bensPassword+`","new":"x"}`)
	g.want(t, 204, "", one, "PUT", "/me/password", `{"old":"`+bensPassword+`","new":"another-Kettle-9"}`)
	g.want(t, 401, "over", one, "GET", "/me", "")
	g.want(t, 401, "over", two, "GET", "/me", "")
	g.want(t, 200, `"token":"t"`, token, "GET", "/me", "")
	g.login(t, "ben", "another-Kettle-9")
}

// Nobody changes his own password without the old one, by whatever path: a session that got out would last otherwise.
func TestOwnPasswordNeedsOld(t *testing.T) {
	g := newGate(t)
	anna := g.login(t, "anna", annasPassword)
	g.want(t, 403, "your own password needs the old one: use /api/v1/me/password", anna, "PUT", "/users/anna/password", `{"new":"another-Kettle-9"}`)
	basic := httptest.NewRequest("GET", "/", nil)
	basic.SetBasicAuth("anna", annasPassword)
	g.want(t, 403, "your own password needs the old one", "Authorization: "+basic.Header.Get("Authorization"), "PUT", "/users/anna/password", `{"new":"another-Kettle-9"}`)
	g.want(t, 204, "", anna, "PUT", "/users/ben/password", `{"new":"another-Kettle-9"}`)
	g.want(t, 204, "", anna, "PUT", "/me/password", `{"old":"`+annasPassword+`","new":"another-Kettle-9"}`)
	g.want(t, 401, "over", anna, "GET", "/me", "")
}

// Whom a proxy knows may have no password: he cannot give himself one, not even an admin.
func TestNoPasswordYet(t *testing.T) {
	g := newGate(t)
	anna := g.login(t, "anna", annasPassword)
	g.want(t, 201, "", anna, "POST", "/users", `{"name":"carl","grants":[{"role":"admin","namespaces":["*"],"jobs":["*"]}]}`)
	g.Table.Who = func(*http.Request) (*access.Principal, error) {
		return &access.Principal{Name: "carl", User: "carl", Key: "proxy:carl", Session: true, Grants: []access.Grant{{Role: access.Admin}}}, nil
	}
	g.want(t, 422, "you have no password yet: an admin gives you your first one", "", "PUT", "/me/password", `{"old":"","new":"another-Kettle-9"}`)
	g.want(t, 403, "your own password needs the old one", "", "PUT", "/users/carl/password", `{"new":"another-Kettle-9"}`)
}

func TestTokens(t *testing.T) {
	g := newGate(t)
	ben, anna := g.login(t, "ben", bensPassword), g.login(t, "anna", annasPassword)
	own := g.token(t, ben, "/me/tokens", `{"name":"deploy","grants":[{"role":"viewer","namespaces":["prod-1"],"jobs":["pay-*"]}],"days":30}`)
	g.want(t, 200, `"within":[{"role":"viewer","namespaces":["prod-1"],"jobs":["pay-*"]}],"hasPassword":false`, own, "GET", "/me", "")
	for name, body := range map[string]string{
		"more jobs":       `{"name":"x","grants":[{"role":"viewer","namespaces":["prod-1"],"jobs":["*"]}]}`,
		"more namespaces": `{"name":"x","grants":[{"role":"viewer","jobs":["pay-out"],"namespaces":["*"]}]}`,
		"a higher role":   `{"name":"x","grants":[{"role":"admin","namespaces":["prod"],"jobs":["pay-out"]}]}`,
		"no such role":    `{"name":"x","grants":[{"role":"root","namespaces":["*"],"jobs":["*"]}]}`,
		"too long":        `{"name":"x","days":366}`,
		"a bad name":      `{"name":"x y"}`,
		"no name":         `{}`,
	} {
		t.Log(name)
		g.want(t, 422, `"code":"invalid"`, ben, "POST", "/me/tokens", body)
	}
	g.want(t, 409, "exists", ben, "POST", "/me/tokens", `{"name":"deploy"}`)
	g.want(t, 403, "a token cannot do this", own, "POST", "/me/tokens", `{"name":"y"}`)
	g.want(t, 403, "a token cannot do this", own, "GET", "/me/tokens", "")
	other := g.token(t, ben, "/me/tokens", `{"name":"other","neverExpires":true}`)
	g.want(t, 403, "a token cannot do this", own, "DELETE", "/me/tokens/other", "")
	g.want(t, 204, "", own, "DELETE", "/me/tokens/deploy", "")
	g.want(t, 401, "revoked", own, "GET", "/me", "")
	g.want(t, 200, `"name":"other"`, ben, "GET", "/me/tokens", "")
	g.want(t, 404, "no-token", ben, "DELETE", "/me/tokens/deploy", "")
	g.want(t, 403, "denied", ben, "GET", "/users/anna/tokens", "")
	g.want(t, 200, `"user":"ben","name":"other"`, anna, "GET", "/users/ben/tokens", "")
	byAnna := g.token(t, anna, "/users/ben/tokens", `{"name":"given"}`)
	g.want(t, 200, `"name":"ben (token given)"`, byAnna, "GET", "/me", "")
	g.want(t, 204, "", anna, "DELETE", "/users/ben/tokens/other", "")
	g.want(t, 401, "revoked", other, "GET", "/me", "")
	g.want(t, 404, "no-user", anna, "GET", "/users/eve/tokens", "")
	for _, secret := range []string{own, other, byAnna} {
		if strings.Count(g.said.String(), strings.TrimPrefix(secret, "Authorization: Bearer ")) != 1 {
			t.Error("a token was said more than once")
		}
	}
}

// A token that got out ends with it: there is nothing that lives on.
func TestNothingOutlivesToken(t *testing.T) {
	g := newGate(t)
	anna := g.login(t, "anna", annasPassword)
	token := g.token(t, anna, "/users/anna/tokens", `{"name":"deploy","days":1}`)
	const everything = `"grants":[{"role":"admin","namespaces":["*"],"jobs":["*"]}]`
	for _, r := range []struct{ method, path, body string }{
		{"POST", "/users/anna/tokens", `{"name":"x","neverExpires":true}`},
		{"PUT", "/users/anna/password", `{"new":"another-Kettle-9"}`},
		{"POST", "/users", `{"name":"eve","password":"another-Kettle-9",` + everything + `}`},
		{"PUT", "/users/ben", `{"disabled":false,` + everything + `}`},
		{"POST", "/users", `{"name":"eve","password":"another-Kettle-9","grants":[{"role":"admin","namespaces":["a*","b*","c*"],"jobs":["*"]},{"role":"admin","namespaces":["d*"],"jobs":["*"]}]}`},
	} {
		header := token
		if r.method == "PUT" {
			header += "\nIf-Match: *"
		}
		g.want(t, 403, "a token cannot do this for its own user", header, r.method, r.path, r.body)
	}
	g.want(t, 201, "", token, "POST", "/users", `{"name":"dora","password":"another-Kettle-9","grants":[{"role":"admin","namespaces":["test"],"jobs":["*"]}]}`)
	g.want(t, 201, "", token, "POST", "/users", `{"name":"carl","password":"another-Kettle-9","grants":[{"role":"viewer","namespaces":["*"],"jobs":["*"]}]}`)
	g.want(t, 204, "", token, "PUT", "/users/carl/password", `{"new":"another-Kettle-10"}`)
	g.want(t, 201, `"token":"ej_`, token, "POST", "/users/carl/tokens", `{"name":"x"}`)
}

func TestUsers(t *testing.T) {
	g := newGate(t)
	ben, anna := g.login(t, "ben", bensPassword), g.login(t, "anna", annasPassword)
	for _, r := range g.Routes() {
		if r.Need.Scope == route.Everything && strings.HasPrefix(r.Pattern, api.Prefix+"/users") {
			path := strings.NewReplacer("{user}", "anna", "{token}", "x", api.Prefix, "").Replace(r.Pattern)
			g.want(t, 403, "denied", ben, r.Method, path, "{}")
		}
	}
	g.want(t, 201, `"name":"eve"`, anna, "POST", "/users", `{"name":"eve","password":"another-Kettle-9","grants":[{"role":"admin","namespaces":["test"],"jobs":["*"]}]}`)
	eve := g.login(t, "eve", "another-Kettle-9")
	g.want(t, 403, "denied", eve, "GET", "/users", "")
	g.want(t, 409, "exists", anna, "POST", "/users", `{"name":"eve","grants":[]}`)
	g.want(t, 422, "body.password", anna, "POST", "/users", `{"name":"x","password":"short","grants":[]}`)
	g.want(t, 422, "body.name", anna, "POST", "/users", `{"name":"x y","grants":[]}`)
	g.want(t, 409, "last-admin", anna, "DELETE", "/users/anna", "")
	g.want(t, 409, "last-admin", anna+"\nIf-Match: *", "PUT", "/users/anna", `{"grants":[{"role":"viewer","namespaces":["*"],"jobs":["*"]}],"disabled":false}`)
	g.want(t, 409, "last-admin", anna+"\nIf-Match: *", "PUT", "/users/anna", `{"grants":[{"role":"admin","namespaces":["*"],"jobs":["*"]}],"disabled":true}`)
	g.want(t, 200, `"disabled":true`, anna+"\nIf-Match: *", "PUT", "/users/eve", `{"grants":[],"disabled":true}`)
	g.want(t, 401, "over", eve, "GET", "/me", "")
	g.want(t, 428, "no-precondition", anna, "PUT", "/users/eve", `{"grants":[],"disabled":false}`)
	w, r := httptest.NewRecorder(), httptest.NewRequest("GET", api.Prefix+"/users/eve", nil)
	r.Header.Set("Cookie", strings.TrimPrefix(anna, "Cookie: "))
	g.ServeHTTP(w, r)
	seen := anna + "\nIf-Match: " + w.Header().Get("ETag")
	g.want(t, 200, `"disabled":false`, seen, "PUT", "/users/eve", `{"grants":[],"disabled":false}`)
	g.want(t, 412, "user-changed", seen, "PUT", "/users/eve", `{"grants":[],"disabled":false}`)
	g.want(t, 204, "", anna, "PUT", "/users/ben/password", `{"new":"yet-another-Kettle"}`)
	g.want(t, 401, "over", ben, "GET", "/me", "")
	ben = g.login(t, "ben", "yet-another-Kettle")
	_, sessions, _ := g.ask(t, anna, "GET", "/sessions?user=ben", "")
	var list api.List[api.SessionInfo]
	if err := json.Unmarshal([]byte(sessions), &list); err != nil || len(list.Rows) != 1 || list.Rows[0].User != "ben" {
		t.Fatalf("%s, %v", sessions, err)
	}
	g.want(t, 404, "no-session", anna, "DELETE", "/me/sessions/"+list.Rows[0].Key, "") // it is not hers
	g.want(t, 204, "", anna, "DELETE", "/sessions/"+list.Rows[0].Key, "")
	g.want(t, 404, "no-session", anna, "DELETE", "/sessions/"+list.Rows[0].Key, "")
	g.want(t, 401, "over", ben, "GET", "/me", "")
}

// No answer and no event has a password, a hash, or the secret of a session.
func TestAccessSaysNoSecret(t *testing.T) {
	g := newGate(t)
	anna := g.login(t, "anna", annasPassword)
	for _, path := range []string{"/me", "/users", "/users/anna", "/users/anna/tokens", "/sessions", "/me/sessions", "/me/tokens", "/openapi.json"} {
		g.want(t, 200, "", anna, "GET", path, "")
	}
	g.ask(t, "", "POST", "/login", `{"name":"`+bensPassword+`","password":"`+bensPassword+`"}`)
	g.ask(t, "", "POST", "/login", `{"name":1,"password":"`+bensPassword+`","x":"`+bensPassword+`"}`)
	g.ask(t, "", "POST", "/login", `{"password":"`+bensPassword)
	g.ask(t, "Authorization: Bearer "+bensPassword, "GET", "/me", "")
	secrets := []string{annasPassword, bensPassword, "argon2id", strings.SplitAfter(anna, "=")[1]}
	if i := slices.IndexFunc(secrets, func(s string) bool { return strings.Contains(g.said.String(), s) }); i >= 0 {
		t.Errorf("secret %d is in %s", i, g.said.String())
	}
}
