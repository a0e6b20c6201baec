package access

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Every log-in, refused or not, and every change is in the trail and in what is told: who, whom, what, and from where.
func TestTrailHasEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const proxy, elsewhere = "10.0.0.1", "198.51.100.7"
		var told events
		file := usersFile(t)
		c := open(t, Options{File: file, Tell: told.tell, Trail: TrailOf(string(file)), Proxy: Proxy{From: nets(proxy + "/32"), User: "X-User"}})
		ctx, key := t.Context(), ""
		from := func(address string, r *http.Request) *http.Request {
			r.RemoteAddr = address + ":4711"
			return r
		}
		refused := func(r *http.Request) {
			t.Helper()
			if p, err := c.Authenticate(r); err == nil {
				t.Errorf("let in: %+v", p)
			}
		}
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		var secret string
		for _, step := range []struct {
			do   func()
			want Event // without time; key stands for the last session's
		}{
			{func() { key = login(t, c, "ben").Key }, Event{Kind: LoggedIn, By: "ben", User: "ben", Address: "192.0.2.7", Session: "key", Detail: "by password"}},
			{func() {
				s, err := c.LoginAs("oidc:zoe", []Grant{{Role: Viewer}}, home)
				must(err)
				key = s.Key
			}, Event{Kind: LoggedIn, By: "oidc:zoe", User: "oidc:zoe", Address: "192.0.2.7", Session: "key", Detail: "by oidc"}},
			{func() { must(c.EndSession(boss, key)) }, Event{Kind: SessionEnded, By: "anna", User: "oidc:zoe", Address: "192.0.2.7", Session: "key"}},
			{func() {
				s := login(t, c, "ben")
				key = s.Key
				told.all = told.all[:len(told.all)-1] // the log-in is above
				p := wantWho(t, c, from(elsewhere, withCookie(c, s)), "ben")
				c.Logout(p)
			}, Event{Kind: LoggedOut, By: "ben", User: "ben", Address: elsewhere, Session: "key"}},

			{func() { must(c.AddUser(ctx, boss, "eve", "", []Grant{{Role: Viewer, Jobs: []string{"a*"}}})) },
				Event{Kind: UserAdded, By: "anna", Address: "192.0.2.7", User: "eve", Detail: "viewer:*:a*"}},
			{func() {
				var err error
				secret, _, err = c.AddToken(ctx, boss, "eve", "t", []Grant{{Role: Viewer}}, time.Hour)
				must(err)
			}, Event{Kind: TokenCreated, By: "anna", Address: "192.0.2.7", User: "eve", Token: "t", Detail: "viewer"}},
			{func() { must(c.SetUser(ctx, boss, "eve", Rights{Grants: []Grant{{Role: Operator}}, Disabled: true})) },
				Event{Kind: UserChanged, By: "anna", Address: "192.0.2.7", User: "eve", Detail: "disabled operator"}},
			{func() { refused(from(elsewhere, ask("Authorization", "Bearer "+secret))) },
				Event{Kind: LogInRefused, User: "eve", Token: "t", Address: elsewhere, Detail: "not let in: the user of the token is disabled"}},
			{func() { refused(from(proxy, ask("X-User", "eve"))) },
				Event{Kind: LogInRefused, User: "eve", Address: proxy, Detail: `not let in: user "eve" is disabled`}},
			{func() { refused(from(elsewhere, ask("X-User", "eve"))) },
				Event{Kind: LogInRefused, Address: elsewhere, Detail: "not let in: header X-User comes from an address that is not trusted"}},
			{func() { refused(from(proxy, ask("X-User", "zoe", "X-User", "anna"))) },
				Event{Kind: LogInRefused, Address: proxy, Detail: "not let in: header X-User is there 2 times"}},
			{func() { must(c.RevokeToken(ctx, boss, "eve", "t")) }, Event{Kind: TokenRevoked, By: "anna", Address: "192.0.2.7", User: "eve", Token: "t"}},
			{func() { refused(from(elsewhere, ask("Authorization", "Bearer "+secret))) },
				Event{Kind: LogInRefused, Address: elsewhere, Detail: "not let in: the token is unknown, or was revoked"}},
			{func() { must(c.RemoveUser(ctx, boss, "eve")) }, Event{Kind: UserRemoved, By: "anna", Address: "192.0.2.7", User: "eve"}},
			{func() { must(c.SetPassword(ctx, boss, "ben", another)) }, Event{Kind: PasswordChanged, By: "anna", Address: "192.0.2.7", User: "ben"}},
			{func() { must(c.ChangePassword(ctx, "ben", another, password, netip.MustParseAddr(elsewhere))) },
				Event{Kind: PasswordChanged, By: "ben", Address: elsewhere, User: "ben"}},
			{func() {
				if err := c.ChangePassword(ctx, "ben", another, password, netip.MustParseAddr(elsewhere)); err == nil {
					t.Error("the old password was wrong")
				}
			}, Event{Kind: LogInRefused, User: "ben", Address: elsewhere, Detail: "not let in: wrong name or password"}},

			{func() { refused(from(elsewhere, basic("ben", another))) }, Event{Kind: LogInRefused, User: "ben", Address: elsewhere, Detail: "not let in: wrong name or password"}},
			{func() { refused(from(elsewhere, basic("hunter2", password))) }, Event{Kind: LogInRefused, Address: elsewhere, Detail: "not let in: wrong name or password"}},
			{func() {
				for range 20 {
					c.limits.failed("ben", netip.MustParseAddr(elsewhere))
				}
				refused(from(elsewhere, basic("ben", another)))
			}, Event{Kind: LogInLimited, User: "ben", Address: elsewhere, Detail: "too many log-ins have failed: try again in 5m0s"}},
		} {
			before := len(told.all)
			step.do()
			if len(told.all) != before+1 {
				t.Fatalf("%d events for %+v: %+v", len(told.all)-before, step.want, told.all[before:])
			}
			got := told.all[before]
			if step.want.Session != "" {
				step.want.Session = key
			}
			if step.want.Time = now(); got != step.want {
				t.Errorf("got  %+v\nwant %+v", got, step.want)
			}
			pass(time.Second)
		}
		// What is refused changes nothing, and is in the log of requests.
		before := len(told.all)
		if err := c.RemoveUser(ctx, boss, "anna"); err == nil || len(told.all) != before {
			t.Errorf("%v, and %+v", err, told.all[before:])
		}
		inFile, err := os.ReadFile(string(file) + ".log")
		must(err)
		var lines []string
		for _, e := range told.all {
			line, err := json.Marshal(e)
			must(err)
			lines = append(lines, string(line))
		}
		for _, line := range lines {
			if !strings.Contains(string(inFile), line+"\n") {
				t.Errorf("the file has no %s", line)
			}
		}
	})
}

// An event of a principal has his name and address.
func TestActorOf(t *testing.T) {
	if got := ActorOf(&Principal{Name: "anna (token t)", User: "anna", Address: "192.0.2.7"}); got != (Actor{"anna (token t)", "192.0.2.7"}) || ActorOf(nil) != (Actor{}) {
		t.Errorf("%+v", got)
	}
}
