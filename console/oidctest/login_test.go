package oidctest

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/access/oidc"
)

// forge returns a change of the provider, which then writes a claim into ID tokens.
func forge(claim string, value any) func(*store) {
	return func(s *store) { s.forge = func(claims map[string]any) { claims[claim] = value } }
}

func TestLogin(t *testing.T) {
	staff := access.Grant{Role: access.Viewer}
	ops := access.Grant{Role: access.Operator, Namespaces: []string{"prod"}}
	for name, tt := range map[string]struct {
		options  func(*oidc.Options)
		provider func(*store)
		query    string
		want     began // no name: refused with text
		text     string
		to       string // default console
	}{
		"claims from userinfo": {want: began{"oidc:anna@example.com", []access.Grant{ops, staff}}},
		"claims from token": {
			provider: func(s *store) { s.client.inToken = true },
			want:     began{"oidc:anna@example.com", []access.Grant{ops, staff}},
		},
		"back to where it began": {
			query: "?return=" + url.QueryEscape("/jobs/a/b?c=/d#e"), to: "https://console.example/jobs/a/b?c=/d#e",
			want: began{"oidc:anna@example.com", []access.Grant{ops, staff}},
		},
		"preferred_username": {
			options: func(o *oidc.Options) { o.NameClaim = "preferred_username" },
			want:    began{"oidc:anna", []access.Grant{ops, staff}},
		},
		"sub": {
			options: func(o *oidc.Options) { o.NameClaim = "sub" },
			want:    began{"oidc:4711", []access.Grant{ops, staff}},
		},
		"one group, as a text": {
			provider: func(s *store) { s.user.groups = "staff" },
			want:     began{"oidc:anna@example.com", []access.Grant{staff}},
		},
		"a group twice": {
			provider: func(s *store) { s.user.groups = []string{"ops", "ops", "other"} },
			want:     began{"oidc:anna@example.com", []access.Grant{ops}},
		},
		"no group":         {provider: func(s *store) { s.user.groups = nil }, text: "oidc:anna@example.com is in no group that may use this console"},
		"other groups":     {provider: func(s *store) { s.user.groups = []string{"sales"} }, text: "is in no group that may"},
		"group of nothing": {provider: func(s *store) { s.user.groups = []string{"nobody"} }, text: "is in no group that may"},
		"groups as number": {provider: func(s *store) { s.user.groups = 7 }, text: "claim groups: it is no list of texts"},
		"unverified email": {provider: func(s *store) { s.user.unverified = true }, text: `claim email: the provider has not verified "anna@example.com"`},
		"no email":         {provider: func(s *store) { s.user.email = "" }, text: "claim email: it is missing"},
		"name with a line": {provider: func(s *store) { s.user.email = "a\nb" }, text: "that can be printed"},
		"user refuses":     {provider: func(s *store) { s.refuse = true }, text: `the provider has refused: "access_denied"`},
		"wrong audience":   {provider: forge("aud", "another"), text: "cannot be trusted"},
		"wrong party":      {provider: forge("azp", "another"), text: "cannot be trusted"},
		"wrong issuer":     {provider: forge("iss", "https://evil.example"), text: "cannot be trusted"},
		"no subject":       {provider: forge("sub", ""), text: "cannot be trusted"},
		"other subject":    {provider: forge("sub", "4712"), text: "cannot be trusted"}, // userinfo is about 4711
		"other access":     {provider: forge("at_hash", "AAAAAAAAAAAAAAAAAAAAAA"), text: "cannot be trusted"},
		"no nonce":         {provider: forge("nonce", nil), text: "cannot be trusted"},
		"expired":          {provider: forge("exp", 1), text: "cannot be trusted"},
		"signed by the client secret": {
			provider: func(s *store) {
				s.sign = &jose.SigningKey{Algorithm: jose.HS256, Key: []byte(clientSecret + clientSecret)}
			},
			text: "cannot be trusted",
		},
		"expired token": {provider: func(s *store) { s.client.lifetime = -time.Minute }, text: "cannot be trusted"},
		"another nonce": {provider: forge("nonce", "other"), text: "cannot be trusted"},
		"unknown key":   {provider: func(s *store) { s.hidden = true }, text: "cannot be trusted"},
		"wrong secret":  {options: func(o *oidc.Options) { o.ClientSecret = "planted-wrong" }, text: "does not accept this log-in"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				options := func(*oidc.Options) {}
				if tt.options != nil {
					options = tt.options
				}
				w := newWorld(t, options)
				if tt.provider != nil {
					w.provider.set(tt.provider)
				}
				got := w.newBrowser().logIn(tt.query)
				if tt.text != "" {
					if got.status != http.StatusForbidden || !strings.Contains(got.text, tt.text) || len(w.began) > 0 {
						t.Errorf("%d %s, sessions %v; want 403 with %q", got.status, got.text, w.began, tt.text)
					}
					if len(w.refused) != 1 || !strings.Contains(w.refused[0].why, "by oidc: ") || !strings.Contains(w.refused[0].why, tt.text) || w.refused[0].from != "192.0.2.1" {
						t.Errorf("told: %+v", w.refused)
					}
					if hasCause := strings.HasSuffix(tt.text, "trusted") || strings.HasSuffix(tt.text, "log-in"); hasCause != strings.Contains(w.log.String(), "address=192.0.2.1") {
						t.Errorf("log: %s", w.log)
					}
				} else {
					to := tt.to
					if to == "" {
						to = console + "/"
					}
					if got.url != to || !reflect.DeepEqual(w.began, []began{tt.want}) {
						t.Errorf("got to %s (%d %s) as %+v, want %s as %+v", got.url, got.status, got.text, w.began, to, tt.want)
					}
				}
				for _, secret := range []string{"planted", clientSecret} {
					if strings.Contains(fmt.Sprint(w.log, got.text, w.refused), secret) {
						t.Errorf("%q is in the log, the trail or the answer:\n%s\n%v\n%s", secret, w.log, w.refused, got.text)
					}
				}
			})
		})
	}
}

// What another browser, or an attacker, has of a log-in is of no use.
func TestCallbackOfAnother(t *testing.T) {
	replace := func(address, parameter, value string) string {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		query := u.Query()
		query.Set(parameter, value)
		u.RawQuery = query.Encode()
		return u.String()
	}
	parameter := func(address, name string) string {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		return u.Query().Get(name)
	}
	for name, tt := range map[string]struct {
		try    func(w *world) page
		status int
		text   string
	}{
		"no cookie":      {func(w *world) page { return w.newBrowser().follow(w.newBrowser().comeBack()) }, 400, "no log-in has been started in this browser"},
		"nothing at all": {func(w *world) page { return w.newBrowser().follow(callback) }, 400, "no log-in has been started"},
		"state of another browser": {func(w *world) page {
			other, mine := w.newBrowser(), w.newBrowser()
			mine.comeBack()
			return mine.follow(other.comeBack())
		}, 400, "belongs to no log-in that is under way in this browser"},
		"no state": {func(w *world) page {
			b := w.newBrowser()
			return b.follow(replace(b.comeBack(), "state", ""))
		}, 400, "belongs to no log-in"},
		"code of another browser": {func(w *world) page { // PKCE: the verifier is not that of the code
			other, mine := w.newBrowser(), w.newBrowser()
			return mine.follow(replace(mine.comeBack(), "code", parameter(other.comeBack(), "code")))
		}, 403, "does not accept this log-in"},
		"code twice": {func(w *world) page {
			b := w.newBrowser()
			back := b.comeBack()
			cookies := b.Jar.Cookies(mustParse(t, callback))
			b.follow(back)
			b.Jar.SetCookies(mustParse(t, callback), cookies)
			w.began = nil
			return b.follow(back)
		}, 403, "does not accept this log-in"},
		"callback twice": {func(w *world) page {
			b := w.newBrowser()
			back := b.comeBack()
			b.follow(back)
			w.began = nil
			return b.follow(back)
		}, 400, "no log-in has been started"},
		"changed cookie": {func(w *world) page {
			b := w.newBrowser()
			back := b.comeBack()
			cookies := b.Jar.Cookies(mustParse(t, callback))
			other := "A" // the first letter is as random as the nonce
			if cookies[0].Value[0] == 'A' {
				other = "B"
			}
			cookies[0].Value = other + cookies[0].Value[1:]
			b.Jar.SetCookies(mustParse(t, callback), cookies)
			return b.follow(back)
		}, 400, "no log-in has been started"},
		"cookie of another console": {func(w *world) page {
			b := w.newBrowser()
			back := b.comeBack()
			w.away("console.example", newWorld(t).hosts["console.example"])
			return b.follow(back)
		}, 400, "the console has been restarted"},
		"too late": {func(w *world) page {
			b := w.newBrowser()
			back := b.comeBack()
			cookies := b.Jar.Cookies(mustParse(t, callback))
			pass(11 * time.Minute)
			b.Jar.SetCookies(mustParse(t, callback), cookies)
			return b.follow(back)
		}, 400, "it took too long"},
		"another provider": {func(w *world) page {
			b := w.newBrowser()
			return b.follow(replace(b.comeBack(), "iss", "https://evil.example"))
		}, 400, "comes from another provider"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				got := tt.try(w)
				if got.status != tt.status || !strings.Contains(got.text, tt.text) || len(w.began) > 0 {
					t.Errorf("%d %s, sessions %v; want %d with %q", got.status, got.text, w.began, tt.status, tt.text)
				}
				if n := len(w.refused); n == 0 && name != "cookie of another console" || n > 0 && w.refused[n-1].why != "by oidc: "+strings.TrimSuffix(got.text, "\n") {
					t.Errorf("told: %+v", w.refused)
				}
			})
		})
	}
}

// A page of another site cannot end a log-in that is under way.
func TestForeignCallbackChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		b := w.newBrowser()
		back := b.comeBack()
		b.follow(callback + "?state=guess&error=access_denied")
		if got := b.follow(back); got.url != console+"/" {
			t.Errorf("%d %s", got.status, got.text)
		}
	})
}

func mustParse(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// The code is worth nothing without the verifier, of which only a hash was shown before.
func TestPKCE(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var challenge, verifier string
		spoil := false
		w.change = func(r *http.Request) {
			switch r.URL.Path {
			case "/authorize":
				if method := r.URL.Query().Get("code_challenge_method"); method != "S256" {
					t.Errorf("code_challenge_method %q", method)
				}
				challenge = r.URL.Query().Get("code_challenge")
			case "/oauth/token":
				if err := r.ParseForm(); err != nil {
					t.Error(err)
				}
				verifier = r.PostForm.Get("code_verifier")
				if spoil {
					r.PostForm.Set("code_verifier", strings.Repeat("x", len(verifier)))
					r.Form = r.PostForm
				}
			}
		}
		w.newBrowser().logIn("")
		hash := sha256.Sum256([]byte(verifier))
		if got := base64.RawURLEncoding.EncodeToString(hash[:]); len(w.began) != 1 || got != challenge || len(verifier) < 43 {
			t.Errorf("verifier %q with hash %s, challenge %s, sessions %v", verifier, got, challenge, w.began)
		}
		spoil = true
		if got := w.newBrowser().logIn(""); got.status != http.StatusForbidden || len(w.began) != 1 {
			t.Errorf("with another verifier: %d %s", got.status, got.text)
		}
	})
}

func TestKeyRotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for _, id := range []string{"one", "two", "three"} {
			w.provider.set(func(s *store) { s.rotate(id) })
			w.newBrowser().logIn("")
			synctest.Wait()
		}
		if len(w.began) != 3 || w.asked["/keys"] != 3 || w.asked["/.well-known/openid-configuration"] != 1 {
			t.Errorf("sessions %v, asked %v", w.began, w.asked)
		}
	})
}

// A provider that is away does not hinder the start, is not asked all the time, and is found when it is back.
func TestProviderAway(t *testing.T) {
	const document = "/.well-known/openid-configuration"
	for name, instead := range map[string]http.Handler{
		"off":   nil,
		"hangs": http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }),
		"ill":   http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, strings.Repeat("ill ", 1e6), 500) }),
		"another": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Redirect(w, &http.Request{Method: "GET", URL: &url.URL{Path: "/"}}, "https://evil.example/", http.StatusFound)
		}),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				provider := w.away("provider.example", instead)
				started := time.Now()
				got := w.newBrowser().logIn("")
				if took := time.Since(started); got.status != http.StatusServiceUnavailable || took > 5*time.Second || got.header.Get("Retry-After") != "2" {
					t.Errorf("after %v: %d %s, %v", took, got.status, got.text, got.header)
				}
				if len(got.text) > 200 || w.log.Len() > 2000 {
					t.Errorf("%d bytes of answer, %d of log", len(got.text), w.log.Len())
				}
				for range 100 {
					w.newBrowser().logIn("")
				}
				if w.asked[document] != 1 {
					t.Errorf("asked %d times at once", w.asked[document])
				}
				pass(10 * time.Minute)
				w.away("provider.example", provider)
				if got := w.newBrowser().logIn(""); len(w.began) != 1 {
					t.Errorf("back: %d %s", got.status, got.text)
				}
				// And away again: what is known of it is enough to be sent there, but not to come back.
				b := w.newBrowser()
				back := b.comeBack()
				w.away("provider.example", instead)
				if got := b.follow(back); got.status < 403 || len(w.began) != 1 {
					t.Errorf("away in the middle: %d %s", got.status, got.text)
				}
			})
		})
	}
}

func TestWaitDoubles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.away("provider.example", nil)
		for range 60 * 60 {
			w.newBrowser().logIn("")
			pass(time.Second)
		}
		// After 1, 2, 4, … 32 s, then every minute.
		if got := w.asked["/.well-known/openid-configuration"]; got < 60 || got > 68 {
			t.Errorf("asked %d times in an hour", got)
		}
	})
}

// A provider that lies about itself, or would have secrets sent in clear, is not used.
func TestBadProvider(t *testing.T) {
	for name, document := range map[string]string{
		"issuer":   `{"issuer":"https://evil.example"}`,
		"no token": `{"issuer":"` + issuer + `","authorization_endpoint":"https://a/","jwks_uri":"https://a/"}`,
		"clear":    `{"issuer":"` + issuer + `","authorization_endpoint":"https://a/","jwks_uri":"https://a/","token_endpoint":"http://a/"}`,
		"script":   `{"issuer":"` + issuer + `","authorization_endpoint":"javascript:alert(1)","jwks_uri":"https://a/","token_endpoint":"https://a/"}`,
		"no JSON":  `<html>`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.away("provider.example", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "application/json")
					if _, err := w.Write([]byte(document)); err != nil {
						t.Error(err)
					}
				}))
				if got := w.newBrowser().logIn(""); got.status != http.StatusServiceUnavailable {
					t.Errorf("%d %s", got.status, got.url)
				}
			})
		})
	}
}

func TestOpenRedirect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for _, to := range []string{
			"//evil.example", "/\\evil.example", "\\\\evil.example", "https://evil.example/jobs/", "javascript:alert(1)",
			"/\t/evil.example", "/jobs/\r\nSet-Cookie: a=b", "jobs/", "/other", "/jobs/../other", "/jobs/%2e%2e/other", "/jobsx/",
			"/jobs/\u202e", "/jobs/" + strings.Repeat("x", 2000), "///jobs/", "/jobs\\..\\..", "/jobs/%", "@evil.example",
		} {
			got := w.newBrowser().follow(login + "?return=" + url.QueryEscape(to))
			if got.status != http.StatusBadRequest || got.header.Get("Location") != "" || got.header.Get("Set-Cookie") != "" {
				t.Errorf("%q: %d %s", to, got.status, got.header.Get("Location"))
			}
		}
	})
}

func TestCookie(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		got := w.newBrowser().follow(login)
		cookie := got.header.Get("Set-Cookie")
		for _, want := range []string{"__Host-elasticjob-oidc=", "; Path=/", "; Max-Age=600", "; HttpOnly", "; Secure", "; SameSite=Lax"} {
			if !strings.Contains(cookie, want) {
				t.Errorf("%q lacks %q", cookie, want)
			}
		}
		if strings.Contains(cookie, "Domain") || got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%q, %v", cookie, got.header)
		}
		b := w.newBrowser()
		if got := b.follow(b.comeBack()); !strings.Contains(strings.Join(got.header.Values("Set-Cookie"), "|"), "__Host-elasticjob-oidc=; Path=/; Max-Age=0") {
			t.Errorf("after the log-in: %q", got.header.Values("Set-Cookie"))
		}
	})
}

// The redirect URL is that of the configuration, whatever the browser calls the console.
func TestHostHeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.change = func(r *http.Request) {
			if strings.HasSuffix(r.URL.Path, oidc.LoginPath) {
				r.Host = "evil.example"
				r.Header.Set("X-Forwarded-Host", "evil.example")
			}
		}
		to := mustParse(t, w.newBrowser().follow(login).url)
		if to.Host != "provider.example" || to.Query().Get("redirect_uri") != callback {
			t.Errorf("sent to %s", to)
		}
	})
}

func TestLogout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(o *oidc.Options) { o.LogoutURL = console + "/" })
		at, err := w.login.LogoutURL(t.Context(), "oidc:anna@example.com")
		if err != nil {
			t.Fatal(err)
		}
		if got := w.newBrowser().open(at, anywhere); got.url != console+"/" {
			t.Errorf("%s ended at %s: %d %s", at, got.url, got.status, got.text)
		}
		if at, err := w.login.LogoutURL(t.Context(), "anna"); at != "" || err != nil {
			t.Errorf("of somebody else: %q, %v", at, err)
		}
		if at, err := newWorld(t).login.LogoutURL(t.Context(), "oidc:anna@example.com"); at != "" || err != nil {
			t.Errorf("without: %q, %v", at, err)
		}
	})
}

// The same over TLS, with real servers.
func TestOverTLS(t *testing.T) {
	var w *world
	var p *provider
	provider := httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { p.ServeHTTP(rw, r) }))
	defer provider.Close()
	server := httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { w.hosts["console.example"].ServeHTTP(rw, r) }))
	defer server.Close()
	p = newProvider(t, provider.URL, server.URL+"/jobs"+oidc.CallbackPath, server.URL+"/jobs/")
	w = newWorld(t, func(o *oidc.Options) {
		o.Issuer, o.RedirectURL, o.Transport = provider.URL, server.URL+"/jobs"+oidc.CallbackPath, provider.Client().Transport
	})
	b := w.newBrowser()
	b.Transport = server.Client().Transport // both have the same certificate
	defer b.CloseIdleConnections()
	got := b.open(server.URL+"/jobs"+oidc.LoginPath, func(to *url.URL) bool { return to.Path == "/jobs/" })
	if len(w.began) != 1 || w.began[0].name != "oidc:anna@example.com" {
		t.Errorf("%s: %d %s, sessions %v, log %s", got.url, got.status, got.text, w.began, w.log)
	}
}
