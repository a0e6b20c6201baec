package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

const (
	password = "Tr0ub4dor-and-3" // of anna and ben
	another  = "plum-Kettle-77-x"
)

var (
	hashOnce sync.Once
	theHash  Hash
)

// hash is that of password: made once, for it takes time.
func hash() Hash {
	hashOnce.Do(func() { theHash = NewHash(password) })
	return theHash
}

var (
	home = netip.MustParseAddr("192.0.2.7")
	boss = Actor{Name: "anna", Address: "192.0.2.7"}
)

// users is a file with anna, who may do everything, and ben.
func usersFile(t testing.TB) File {
	t.Helper()
	f := File(filepath.Join(t.TempDir(), "users.yaml"))
	if err := f.Change(context.Background(), func(u *Users) error {
		u.Users = map[string]*User{
			"anna": {Password: hash(), Grants: []Grant{everything}},
			"ben":  {Password: hash(), Grants: []Grant{{Role: Operator, Namespaces: []string{"prod*"}, Jobs: []string{"pay-*"}}}},
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return f
}

// events collects what is told.
type events struct {
	mu  sync.Mutex
	all []Event
}

func (e *events) tell(one Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, one)
}

func (e *events) kinds() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var kinds []string
	for _, one := range e.all {
		kinds = append(kinds, string(one.Kind))
	}
	return strings.Join(kinds, ", ")
}

func open(t testing.TB, o Options) *Control {
	t.Helper()
	c, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// ask is a request with headers: name, value, name, value.
func ask(headers ...string) *http.Request {
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = "192.0.2.7:4711"
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

func basic(name, password string) *http.Request {
	r := ask()
	r.SetBasicAuth(name, password)
	return r
}

func withCookie(c *Control, s Session) *http.Request {
	r := ask()
	r.AddCookie(c.Cookie(r, s))
	return r
}

func login(t *testing.T, c *Control, name string) Session {
	t.Helper()
	s, err := c.Login(t.Context(), name, password, home)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func wantWho(t *testing.T, c *Control, r *http.Request, want string) *Principal {
	t.Helper()
	p, err := c.Authenticate(r)
	if err != nil || p == nil || p.Name != want {
		t.Fatalf("is %+v, %v; want %s", p, err, want)
	}
	return p
}

func wantRefused(t *testing.T, c *Control, r *http.Request, why string) {
	t.Helper()
	p, err := c.Authenticate(r)
	if p != nil || !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), why) {
		t.Fatalf("is %+v, %v; want ErrRefused: %s", p, err, why)
	}
}

func TestWaysIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, Options{File: usersFile(t)})
		token, _, err := c.AddToken(t.Context(), boss, "ben", "deploy", []Grant{{Role: Viewer}}, 0)
		if err != nil {
			t.Fatal(err)
		}
		s := login(t, c, "ben")
		for _, tt := range []struct {
			name, who, refused string
			r                  *http.Request
			isSession          bool
		}{
			{"nothing", "", "", ask(), false},
			{"token", "ben (token deploy)", "", ask("Authorization", "Bearer "+token), false},
			{"token, in small letters", "ben (token deploy)", "", ask("Authorization", "bearer "+token), false},
			{"wrong token", "", "unknown", ask("Authorization", "Bearer "+token+"x"), false},
			{"no token", "", "unknown", ask("Authorization", "Bearer "), false},
			{"session", "ben", "", ask(TokenHeader, s.Value()), false},
			{"wrong session", "", "over", ask(TokenHeader, s.Value()+"x"), false},
			{"name and password", "anna", "", basic("anna", password), true},
			{"wrong password", "", "wrong name or password", basic("anna", another), false},
			{"unknown name", "", "wrong name or password", basic("eve", password), false},
			{"impossible name", "", "wrong name or password", basic("e\x00ve", password), false},
			{"endless password", "", "wrong name or password", basic("anna", strings.Repeat("x", 10_000)), false},
			{"broken Basic", "", "cannot be read", ask("Authorization", "Basic %%%"), false},
			{"another scheme", "", "Bearer and Basic", ask("Authorization", "Digest x"), false},
			{"two headers", "", "2 times", ask("Authorization", "Bearer "+token, "Authorization", "Bearer "+token), false},
			{"cookie", "ben", "", withCookie(c, s), true},
			{"wrong cookie", "", "over", ask("Cookie", "elasticjob=x.y"), false},
			{"second cookie", "ben", "", ask("Cookie", "elasticjob=x.y; elasticjob="+s.Value()), true},
			{"another's cookie", "", "", ask("Cookie", "other=x"), false},
			{"a wrong token before a cookie", "", "unknown", ask("Authorization", "Bearer x", "Cookie", "elasticjob="+s.Value()), false},
			{"a wrong session before a password", "", "over", ask(TokenHeader, "x", "Authorization", "Basic YW5uYTp4"), false},
			{"a proxy that is not configured", "", "", ask("X-Forwarded-User", "anna"), false},
		} {
			p, err := c.Authenticate(tt.r)
			switch {
			case tt.refused != "":
				if p != nil || !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), tt.refused) {
					t.Errorf("%s: %+v, %v", tt.name, p, err)
				}
			case err != nil || tt.who == "" && p != nil || tt.who != "" && (p == nil || p.Name != tt.who || p.Session != tt.isSession || p.Address != "192.0.2.7"):
				t.Errorf("%s: %+v, %v", tt.name, p, err)
			}
		}
	})
}

func TestKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, Options{File: usersFile(t)})
		one, two := login(t, c, "anna"), login(t, c, "anna")
		token, _, err := c.AddToken(t.Context(), boss, "anna", "t", nil, Never)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]int{}
		for i, r := range []*http.Request{withCookie(c, one), ask(TokenHeader, one.Value()), withCookie(c, two), basic("anna", password), basic("ben", password), ask("Authorization", "Bearer "+token)} {
			first, err := c.Authenticate(r)
			if err != nil {
				t.Fatal(err)
			}
			again, err := c.Again(r)
			if err != nil || again.Key != first.Key {
				t.Errorf("request %d: key %s, then %s, %v", i, first.Key, again.Key, err)
			}
			seen[first.Key]++
		}
		if len(seen) != 5 || seen[one.Key] != 2 {
			t.Errorf("keys: %v", seen)
		}
	})
}

// Rights are those of the file at the time of the request, whatever the user came by.
func TestRightsAtOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		change  func(ctx context.Context, c *Control) error
		session string // "" goes on
		token   string
	}{
		"grants": {func(ctx context.Context, c *Control) error { return c.SetUser(ctx, boss, "ben", Rights{}) }, "", ""},
		"disable": {func(ctx context.Context, c *Control) error {
			return c.SetUser(ctx, boss, "ben", Rights{Disabled: true})
		}, "over", "disabled"},
		"disable, and enable": {func(ctx context.Context, c *Control) error {
			pass(time.Second)
			return errors.Join(c.SetUser(ctx, boss, "ben", Rights{Disabled: true}), c.SetUser(ctx, boss, "ben", Rights{}))
		}, "over", ""},
		"password": {func(ctx context.Context, c *Control) error { return c.SetPassword(ctx, boss, "ben", another) }, "over", ""},
		"remove":   {func(ctx context.Context, c *Control) error { return c.RemoveUser(ctx, boss, "ben") }, "over", "unknown"},
		"remove, and add": {func(ctx context.Context, c *Control) error {
			return errors.Join(c.RemoveUser(ctx, boss, "ben"), c.AddUser(ctx, boss, "ben", password, nil))
		}, "over", "unknown"},
		"revoke": {func(ctx context.Context, c *Control) error { return c.RevokeToken(ctx, boss, "ben", "t") }, "", "unknown"},
		"by another process": {func(ctx context.Context, c *Control) error {
			return c.o.File.Change(ctx, func(u *Users) error { return u.Disable("ben", true) })
		}, "over", "disabled"},
		"disable, and enable, before the console looks": {func(ctx context.Context, c *Control) error {
			pass(time.Second)
			return c.o.File.Change(ctx, func(u *Users) error { return errors.Join(u.Disable("ben", true), u.Disable("ben", false)) })
		}, "over", ""},
		"end sessions": {func(ctx context.Context, c *Control) error {
			pass(time.Second)
			return c.o.File.Change(ctx, func(u *Users) error { return u.EndSessions("ben") })
		}, "over", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := open(t, Options{File: usersFile(t)})
				token, _, err := c.AddToken(t.Context(), boss, "ben", "t", nil, 0)
				if err != nil {
					t.Fatal(err)
				}
				s := login(t, c, "ben")
				byToken := ask("Authorization", "Bearer "+token)
				if p := wantWho(t, c, withCookie(c, s), "ben"); !p.May(Operator, "prod", "pay-out") {
					t.Fatal("ben may not what he may")
				}
				wantWho(t, c, byToken, "ben (token t)")
				wantWho(t, c, basic("ben", password), "ben")

				changed := c.Changed()
				if err := tt.change(t.Context(), c); err != nil {
					t.Fatal(err)
				}
				wantChanged(t, changed, lookEvery)
				if tt.session == "" {
					if p := wantWho(t, c, withCookie(c, s), "ben"); name == "grants" && p.MaySome(Viewer, "prod") {
						t.Error("he may as before")
					}
				} else {
					wantRefused(t, c, withCookie(c, s), tt.session)
					wantRefused(t, c, ask(TokenHeader, s.Value()), tt.session)
					if left := c.Sessions("ben"); len(left) > 0 {
						t.Errorf("sessions %+v", left)
					}
				}
				if tt.token == "" {
					wantWho(t, c, byToken, "ben (token t)")
				} else {
					wantRefused(t, c, byToken, tt.token)
				}
				if strings.HasSuffix(name, "disable") || name == "password" || name == "remove" || name == "by another process" {
					wantRefused(t, c, basic("ben", password), "wrong name or password")
				}
			})
		})
	}
}

// wantChanged waits until it is told that rights have changed.
func wantChanged(t *testing.T, changed <-chan struct{}, within time.Duration) {
	t.Helper()
	select {
	case <-changed:
	case <-time.After(within + 1):
		t.Error("nobody is told of the change")
	}
}

// Each end of a session but by age is told, at once; and nothing else is.
func TestChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, Options{File: usersFile(t), SessionsOfUser: 1})
		s := login(t, c, "ben")
		changed := c.Changed()
		wantWho(t, c, withCookie(c, s), "ben")
		wantRefused(t, c, ask("Authorization", "Bearer ej_nothing"), "unknown")
		login(t, c, "anna")
		pass(time.Hour)
		wantRefused(t, c, withCookie(c, s), "over")
		select {
		case <-changed:
			t.Fatal("nothing has changed")
		default:
		}
		for name, change := range map[string]func(Session) error{
			"log-out":      func(s Session) error { c.Logout(&Principal{Key: s.Key}); return nil },
			"end":          func(s Session) error { return c.EndSession(boss, s.Key) },
			"one too many": func(Session) error { login(t, c, "ben"); return nil },
			"again": func(s Session) error {
				_, err := c.BeginByPassword(httptest.NewRecorder(), withCookie(c, s), "anna", password)
				return err
			},
		} {
			s, changed := login(t, c, "ben"), c.Changed()
			if err := change(s); err != nil {
				t.Error(name, err)
			}
			wantChanged(t, changed, 0)
			wantRefused(t, c, withCookie(c, s), "over")
		}
	})
}

func TestSessionTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, Options{File: usersFile(t)})
		idle, busy := login(t, c, "ben"), login(t, c, "ben")
		watched := login(t, c, "ben")
		for range 24 {
			pass(29 * time.Minute)
			wantWho(t, c, withCookie(c, busy), "ben")
		}
		wantRefused(t, c, withCookie(c, idle), "over")
		wantRefused(t, c, withCookie(c, watched), "over")
		pass(24*time.Minute - 1)
		wantWho(t, c, withCookie(c, busy), "ben")
		pass(time.Nanosecond)
		wantRefused(t, c, withCookie(c, busy), "over") // 12 hours

		// A stream that asks again does not keep the session.
		stream := withCookie(c, login(t, c, "ben"))
		pass(29 * time.Minute)
		if p, err := c.Again(stream); p == nil || err != nil {
			t.Error(p, err)
		}
		pass(time.Minute)
		if p, err := c.Again(stream); p != nil || !errors.Is(err, ErrRefused) {
			t.Error(p, err)
		}
	})
}

func TestSessionNumbers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, Options{File: usersFile(t), Sessions: 4, SessionsOfUser: 2})
		var of []Session
		for _, name := range []string{"ben", "ben", "ben", "anna"} {
			of = append(of, login(t, c, name))
			pass(time.Second)
		}
		wantRefused(t, c, withCookie(c, of[0]), "over") // a third one of ben
		wantWho(t, c, withCookie(c, of[3]), "anna")
		for i := range 3 {
			if _, err := c.LoginAs(fmt.Sprint("oidc:", i), nil, home); err != nil {
				t.Fatal(err)
			}
			pass(time.Second)
		}
		wantRefused(t, c, withCookie(c, of[1]), "over") // a fifth one
		wantRefused(t, c, withCookie(c, of[2]), "over") // a sixth one
		if all := c.Sessions(""); len(all) != 4 || all[0].User != "oidc:2" {
			t.Errorf("%+v", all)
		}
		wantWho(t, c, withCookie(c, of[3]), "anna")
		if err := c.EndSession(boss, of[3].Key); err != nil {
			t.Error(err)
		}
		if err := c.EndSession(boss, of[3].Key); !errors.Is(err, ErrNoSession) {
			t.Error(err)
		}
	})
}

func TestLogout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told events
		c := open(t, Options{File: usersFile(t), Tell: told.tell})
		s := login(t, c, "ben")
		p := wantWho(t, c, withCookie(c, s), "ben")
		c.Logout(p)
		c.Logout(p)
		c.Logout(nil)
		wantRefused(t, c, withCookie(c, s), "over")
		if got := told.kinds(); got != "logged in, logged out" {
			t.Error(got)
		}
	})
}

func TestLoginAs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, Options{})
		for _, bad := range []string{"", "anna", "oidc:\x1b[31m", "oidc:a (token b)", " oidc:a", strings.Repeat("x:", 200)} {
			if _, err := c.LoginAs(bad, nil, home); !errors.Is(err, ErrInvalid) {
				t.Errorf("%q: %v", bad, err)
			}
		}
		w, r := httptest.NewRecorder(), ask()
		if err := c.Begin(w, r, "oidc:anna@example.com", []Grant{{Role: Viewer, Namespaces: []string{"prod"}}}); err != nil {
			t.Fatal(err)
		}
		first := ask("Cookie", w.Result().Header.Get("Set-Cookie"))
		p := wantWho(t, c, first, "oidc:anna@example.com")
		if p.User != "" || !p.MayAll(Viewer, "prod") || p.MayAll(Operator, "prod") {
			t.Errorf("%+v", p)
		}
		w = httptest.NewRecorder()
		if err := c.Begin(w, first, "oidc:anna@example.com", nil); err != nil {
			t.Fatal(err)
		}
		wantRefused(t, c, first, "over") // the same browser has a new one
		if err := c.AddUser(t.Context(), boss, "x", password, nil); !errors.Is(err, ErrReadOnly) {
			t.Error(err)
		}
		wantRefused(t, c, basic("anna", password), "wrong")
	})
}

func TestCookie(t *testing.T) {
	c := open(t, Options{Proxy: Proxy{From: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}}})
	s, err := c.LoginAs("oidc:anna", nil, home)
	if err != nil {
		t.Fatal(err)
	}
	plain := c.Cookie(ask(), s)
	if plain.Name != "elasticjob" || plain.Secure || !plain.HttpOnly || plain.SameSite != http.SameSiteLaxMode || plain.Path != "/" || plain.Domain != "" || plain.Value != s.Value() {
		t.Errorf("%+v", plain)
	}
	stranger := ask("X-Forwarded-Proto", "https")
	stranger.RemoteAddr = "198.51.100.7:4711"
	for name, r := range map[string]*http.Request{"not the proxy": stranger, "what the client says": ask("X-Forwarded-Proto", "https, http")} {
		if cookie := c.Cookie(r, s); cookie.Name != plain.Name || cookie.Secure {
			t.Errorf("%s: %+v", name, cookie)
		}
	}
	for name, r := range map[string]*http.Request{"TLS": httptest.NewRequest("GET", "https://h/", nil), "proxy": ask("X-Forwarded-Proto", "http, https")} {
		if cookie := c.Cookie(r, s); cookie.Name != "__Host-elasticjob" || !cookie.Secure || !cookie.HttpOnly {
			t.Errorf("%s: %+v", name, cookie)
		}
		r.AddCookie(plain)
		if p, err := c.Authenticate(r); p != nil || err != nil {
			t.Errorf("%s: the plain cookie, which anybody in the network can set, counts: %v, %v", name, p, err)
		}
	}
	for host, suffix := range map[string]string{"h:8899": "-8899", "[::1]:8899": "-8899", "[::1]": "", "h:": "", "h:x": ""} {
		plainly, safely := ask(), httptest.NewRequest("GET", "https://h/", nil)
		plainly.Host, safely.Host = host, host
		if one, other := c.Cookie(plainly, s), c.Cookie(safely, s); one.Name != "elasticjob"+suffix || other.Name != "__Host-elasticjob"+suffix {
			t.Errorf("%s: %s, %s", host, one.Name, other.Name)
		}
	}
	if gone := c.NoCookie(ask()); gone.MaxAge >= 0 || gone.Value != "" || gone.Name != "elasticjob" {
		t.Errorf("%+v", gone)
	}
}

func TestTokenLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, Options{File: usersFile(t)})
		day := 24 * time.Hour
		for i, tt := range []struct{ life, counts time.Duration }{{0, 90 * day}, {time.Hour, time.Hour}, {MaxTokenLife, 365 * day}, {Never, 0}} {
			token, info, err := c.AddToken(t.Context(), boss, "ben", fmt.Sprint("t", i), nil, tt.life)
			if err != nil || info.Expires.IsZero() != (tt.life == Never) {
				t.Fatal(info, err)
			}
			if tt.life != Never && info.Expires.Sub(info.Created) != tt.counts {
				t.Errorf("%v: %+v", tt.life, info)
			}
			if tt.life != time.Hour {
				continue
			}
			r := ask("Authorization", "Bearer "+token)
			pass(tt.counts - 1)
			wantWho(t, c, r, "ben (token t1)")
			pass(time.Nanosecond)
			wantRefused(t, c, r, "expired")
		}
		for _, bad := range []time.Duration{-2, MaxTokenLife + 1} {
			if _, _, err := c.AddToken(t.Context(), boss, "ben", "bad", nil, bad); !errors.Is(err, ErrInvalid) {
				t.Errorf("%v: %v", bad, err)
			}
		}
	})
}

// A token may do what both its user and it itself may do; without grants of its own, what its user may.
func TestTokenGrants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, Options{File: usersFile(t)})
		for name, tt := range map[string]struct {
			grants        []Grant
			steers, other bool // pay-out, and what ben may not
		}{
			"all":      {nil, true, false},
			"narrower": {[]Grant{{Role: Viewer}}, false, false},
			"wider":    {[]Grant{everything}, true, false},
		} {
			secret, _, err := c.AddToken(t.Context(), boss, "ben", name, tt.grants, 0)
			if err != nil {
				t.Fatal(err)
			}
			p := wantWho(t, c, ask("Authorization", "Bearer "+secret), "ben (token "+name+")")
			if steers, other := p.May(Operator, "prod", "pay-out"), p.May(Viewer, "test", "stock"); steers != tt.steers || other != tt.other || !p.May(Viewer, "prod", "pay-out") {
				t.Errorf("%s: steers %t, other %t", name, steers, other)
			}
		}
	})
}

func TestTokenUses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := usersFile(t)
		c := open(t, Options{File: file})
		token, _, err := c.AddToken(t.Context(), boss, "ben", "t", nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		before, err := os.Stat(string(file))
		if err != nil {
			t.Fatal(err)
		}
		pass(90 * time.Second)
		used := now().Truncate(time.Minute)
		wantWho(t, c, ask("Authorization", "Bearer "+token), "ben (token t)")
		if _, err := os.Stat(string(file) + ".used"); err == nil {
			t.Error("it is written at once")
		}
		pass(time.Minute)
		synctest.Wait()
		for name, c := range map[string]*Control{"this": c, "the next": open(t, Options{File: file})} {
			user, err := c.User("ben")
			if err != nil || len(user.Tokens) != 1 || !user.Tokens[0].Used.Equal(used) {
				t.Errorf("%s process: %+v, %v; want %v", name, user, err, used)
			}
		}
		after, err := os.Stat(string(file))
		if err != nil || !same(before, after) {
			t.Errorf("the users file was written for a use: %v", err)
		}
		if err := c.RevokeToken(t.Context(), boss, "ben", "t"); err != nil {
			t.Error(err)
		}
	})
}

// What the console tells of, and prints, has no secret.
func TestNoSecrets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told events
		file := usersFile(t)
		c := open(t, Options{File: file, Tell: told.tell, Trail: TrailOf(string(file))})
		const typed = "hunter2-hunter2-hunter2" // a password, also where the name belongs
		var texts []string
		note := func(what ...any) {
			for _, w := range what {
				document, err := json.Marshal(w)
				if err != nil {
					t.Fatal(err)
				}
				texts = append(texts, string(document), fmt.Sprintf("%v %+v %#v %s %q", w, w, w, w, w))
			}
		}
		noteErr := func(err error) {
			if err == nil {
				t.Error("no error")
				return
			}
			texts = append(texts, err.Error(), fmt.Sprintf("%+v %#v", err, err))
		}
		s := login(t, c, "ben")
		token, info, err := c.AddToken(t.Context(), boss, "ben", "t", nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		note(s, info, c.Users(), c.Sessions(""), wantWho(t, c, ask("Authorization", "Bearer "+token), "ben (token t)"), wantWho(t, c, withCookie(c, s), "ben"), wantWho(t, c, basic("ben", password), "ben"))
		for _, r := range []*http.Request{
			basic("ben", typed), basic(typed, typed), ask("Authorization", "Bearer "+typed), ask("Authorization", "Basic "+typed), ask("Authorization", typed),
			ask(TokenHeader, typed), ask("Cookie", "elasticjob="+typed), ask(TokenHeader, s.Value()[:len(s.Value())-1]), ask("Authorization", "Bearer "+token[:len(token)-1]),
		} {
			_, err := c.Authenticate(r)
			noteErr(err)
		}
		noteErr(c.SetPassword(t.Context(), boss, "ben", "hunter2"))
		noteErr(c.AddUser(t.Context(), boss, "eve", typed[:7], nil))
		_, err = c.User("nobody")
		noteErr(err)
		if err := c.SetPassword(t.Context(), boss, "ben", typed); err != nil {
			t.Error(err)
		}
		users, err := file.Read()
		if err != nil {
			t.Fatal(err)
		}
		note(told.all, users.Users["ben"].Password)
		trail, err := os.ReadFile(string(file) + ".log")
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(trail))
		if lines := strings.Count(string(trail), "\n"); lines != len(told.all) || lines < 5 {
			t.Errorf("%d lines for %d events", lines, len(told.all))
		}
		secrets := map[string]string{
			"password": password, "typed": "hunter2", "token": token[3 : len(token)-1], "session": s.Value()[:40], "hash": string(users.Users["ben"].Password)[40:], "hash of the token": tokenHash(token)[20:],
		}
		for _, text := range texts {
			for what, secret := range secrets {
				if strings.Contains(text, secret) {
					t.Errorf("%s is in %s", what, text)
				}
			}
		}
	})
}

// A browser takes the cookie by TLS, sends it, and has none after the log-out.
func TestBrowser(t *testing.T) {
	c := open(t, Options{File: usersFile(t)})
	mux := http.NewServeMux()
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		if _, err := c.BeginByPassword(w, r, "ben", r.FormValue("password")); err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
		}
	})
	mux.HandleFunc("POST /logout", func(w http.ResponseWriter, r *http.Request) {
		p, err := c.Authenticate(r)
		if err != nil {
			t.Error(err)
		}
		c.Logout(p)
		http.SetCookie(w, c.NoCookie(r))
	})
	mux.HandleFunc("GET /me", func(w http.ResponseWriter, r *http.Request) {
		p, err := c.Authenticate(r)
		fmt.Fprint(w, p != nil && p.Name == "ben" && p.Session, err)
	})
	server := httptest.NewTLSServer(mux)
	defer server.Close()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := server.Client()
	browser.Jar = jar
	want := func(want string, answer *http.Response, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		if err := errors.Join(err, answer.Body.Close()); err != nil || strings.TrimSpace(string(body)) != want {
			t.Errorf("%q, %v; want %q", body, err, want)
		}
	}
	me := func(text string) {
		t.Helper()
		answer, err := browser.Get(server.URL + "/me")
		want(text, answer, err)
	}
	post := func(path, password, text string) {
		t.Helper()
		answer, err := browser.PostForm(server.URL+path, url.Values{"password": {password}})
		want(text, answer, err)
	}
	me("false <nil>")
	post("/login", another, "not let in: wrong name or password")
	me("false <nil>")
	post("/login", password, "")
	me("true <nil>")
	post("/login", password, "")
	if n := len(c.Sessions("ben")); n != 1 {
		t.Errorf("%d sessions of one browser", n)
	}
	me("true <nil>")
	post("/logout", "", "")
	me("false <nil>")
	if left := c.Sessions(""); len(left) > 0 {
		t.Errorf("left: %+v", left)
	}
}

// Consoles with one users file have the sessions in common: who logs in at one of them is in at the others, and who logs out of one,
// or is thrown out, is out of all, and streams of others are told. A session that is used at one does not become idle at the other.
func TestSessionsOfTwoConsoles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := usersFile(t)
		a, b := open(t, Options{File: file}), open(t, Options{File: file})
		out, thrown, used, late := login(t, a, "ben"), login(t, b, "ben"), login(t, a, "anna"), login(t, b, "anna")
		pass(lookEvery)
		for _, s := range []Session{out, thrown, used, late} {
			wantWho(t, a, withCookie(a, s), s.User)
			wantWho(t, b, withCookie(b, s), s.User)
		}
		b.Logout(wantWho(t, b, withCookie(b, out), "ben"))
		pass(lookEvery)
		wantRefused(t, a, withCookie(a, out), "over")
		changed := b.Changed()
		if err := a.EndSession(Actor{Name: "anna"}, thrown.Key); err != nil {
			t.Fatal(err)
		}
		pass(lookEvery)
		select {
		case <-changed:
		default:
			t.Error("the other console was not told")
		}
		wantRefused(t, b, withCookie(b, thrown), "over")
		for range 3 {
			pass(20 * time.Minute)
			wantWho(t, a, withCookie(a, used), "anna")
			pass(lookEvery)
		}
		wantWho(t, b, withCookie(b, used), "anna")
		wantRefused(t, b, withCookie(b, late), "over")
		if left := a.Sessions(""); len(left) != 1 {
			t.Errorf("left are %+v", left)
		}
	})
}

// Sessions outlive the process, and what ends them ends them for the next one, too. Their file has no secret.
func TestSessionsOutliveTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := usersFile(t)
		c := open(t, Options{File: file})
		stays, idle, out, ended := login(t, c, "ben"), login(t, c, "ben"), login(t, c, "ben"), login(t, c, "anna")
		provided, err := c.LoginAs("oidc:eve", []Grant{{Role: Viewer, Jobs: []string{"pay-*"}}}, home)
		if err != nil {
			t.Fatal(err)
		}
		pass(20 * time.Minute)
		for _, s := range []Session{stays, out, ended, provided} {
			wantWho(t, c, withCookie(c, s), s.User)
		}
		c.Logout(wantWho(t, c, withCookie(c, out), "ben"))
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(string(file) + ".sessions")
		if err != nil || strings.Contains(string(content), stays.Value()) {
			t.Errorf("the file is %s, %v", content, err)
		}
		pass(11 * time.Minute) // while there is no console
		if err := file.Change(t.Context(), func(u *Users) error { return u.SetPassword("anna", "some other words for it") }); err != nil {
			t.Fatal(err)
		}

		c = open(t, Options{File: file})
		wantWho(t, c, withCookie(c, stays), "ben")
		if p := wantWho(t, c, withCookie(c, provided), "oidc:eve"); len(p.Grants) != 1 || p.Grants[0].String() != "viewer:*:pay-*" {
			t.Errorf("who came by a provider may %v", p.Grants)
		}
		for _, s := range []Session{idle, out, ended} {
			wantRefused(t, c, withCookie(c, s), "over")
		}

		if err := os.WriteFile(string(file)+".sessions", []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		c = open(t, Options{File: file})
		wantRefused(t, c, withCookie(c, stays), "over")
		if err := c.Fault(); err == nil || !strings.Contains(err.Error(), "sessions: ") {
			t.Errorf("a file that cannot be read: %v", err)
		}
	})
}
