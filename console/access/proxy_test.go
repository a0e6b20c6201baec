package access

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

func nets(texts ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

func TestAddress(t *testing.T) {
	c := open(t, Options{Proxy: Proxy{From: nets("10.0.0.0/8", "fd00::/8", "127.0.0.1/32")}})
	for _, tt := range []struct {
		remote, want string
		headers      []string
	}{
		{"192.0.2.7:1", "192.0.2.7", nil},
		{"192.0.2.7:1", "192.0.2.7", []string{"1.2.3.4"}}, // he says so himself
		{"[2001:db8::1]:80", "2001:db8::1", nil},
		{"[::ffff:192.0.2.7]:80", "192.0.2.7", nil},
		{"[fe80::1%eth0]:80", "fe80::1", nil},
		{"@", "", []string{"1.2.3.4"}}, // a socket of Unix
		{"10.0.0.1:1", "10.0.0.1", nil},
		{"10.0.0.1:1", "1.2.3.4", []string{"1.2.3.4"}},
		{"[::ffff:10.0.0.1]:1", "1.2.3.4", []string{"1.2.3.4"}},
		{"[fd00::1]:1", "2001:db8::1", []string{"2001:db8::1"}},
		{"10.0.0.1:1", "1.2.3.4", []string{"6.6.6.6, 1.2.3.4"}},
		{"10.0.0.1:1", "1.2.3.4", []string{"6.6.6.6", "1.2.3.4"}},
		{"10.0.0.1:1", "1.2.3.4", []string{"6.6.6.6,1.2.3.4 , 10.0.0.9"}},
		{"10.0.0.1:1", "1.2.3.4", []string{"1.2.3.4:5678"}},
		{"10.0.0.1:1", "2001:db8::1", []string{"[2001:db8::1]:5678"}},
		{"10.0.0.1:1", "10.0.0.8", []string{"10.0.0.8, 10.0.0.9"}},
		{"10.0.0.1:1", "10.0.0.1", []string{"6.6.6.6, nonsense"}},
		{"10.0.0.1:1", "10.0.0.9", []string{"6.6.6.6, unknown, 10.0.0.9"}},
		{"10.0.0.1:1", "10.0.0.1", []string{""}},
		{"10.0.0.1:1", "10.0.0.1", []string{"6.6.6.6,,"}},
		{"10.0.0.1:1", "10.0.0.1", []string{"6.6.6.6" + strings.Repeat(", 10.0.0.1", 10_000)}},
	} {
		r := ask()
		r.RemoteAddr = tt.remote
		r.Header["X-Forwarded-For"] = tt.headers
		if got := text(c.Address(r)); got != tt.want {
			t.Errorf("%s, %.60v: %s, want %s", tt.remote, tt.headers, got, tt.want)
		}
	}
}

func TestProxy(t *testing.T) {
	file := usersFile(t)
	c := open(t, Options{File: file, Proxy: Proxy{
		From: nets("192.0.2.0/24"), User: "X-Forwarded-User", Groups: "X-Forwarded-Groups",
		Grants: map[string][]Grant{"dev": {{Role: Viewer}}, "ops": {{Role: Operator, Namespaces: []string{"test"}}}},
	}})
	if err := c.AddUser(t.Context(), boss, "eve", "", nil); err != nil {
		t.Fatal(err)
	}
	if err := c.SetUser(t.Context(), boss, "eve", Rights{Disabled: true}); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		r                  *http.Request
		who, user, refused string
		may                string // grants
	}{
		"nobody":                {ask(), "", "", "", ""},
		"of the file":           {ask("X-Forwarded-User", "ben"), "ben", "ben", "", "operator:prod*:pay-*"},
		"and a group":           {ask("X-Forwarded-User", "ben", "X-Forwarded-Groups", "x, dev"), "ben", "ben", "", "operator:prod*:pay-* viewer"},
		"groups alone":          {ask("X-Forwarded-User", "zoe", "X-Forwarded-Groups", "dev,ops"), "proxy:zoe", "", "", "viewer operator:test"},
		"no group":              {ask("X-Forwarded-User", "zoe"), "proxy:zoe", "", "", ""},
		"groups without a user": {ask("X-Forwarded-Groups", "dev"), "", "", "", ""},
		"disabled":              {ask("X-Forwarded-User", "eve", "X-Forwarded-Groups", "dev"), "", "", "disabled", ""},
		"twice":                 {ask("X-Forwarded-User", "zoe", "X-Forwarded-User", "anna"), "", "", "2 times", ""},
		"not a name":            {ask("X-Forwarded-User", "ben (token t)"), "", "", "no name", ""},
		"a password as well":    {ask("X-Forwarded-User", "anna", "Authorization", "Basic YmVuOng="), "", "", "wrong name or password", ""},
	} {
		p, err := c.Authenticate(tt.r)
		switch {
		case tt.refused != "":
			if p != nil || err == nil || !strings.Contains(err.Error(), tt.refused) {
				t.Errorf("%s: %+v, %v", name, p, err)
			}
		case err != nil || (p == nil) != (tt.who == ""):
			t.Errorf("%s: %+v, %v", name, p, err)
		case p != nil && (p.Name != tt.who || p.User != tt.user || !p.Session || describe(p.Grants, false) != tt.may):
			t.Errorf("%s: %+v", name, p)
		}
	}
	stranger := ask("X-Forwarded-User", "anna")
	stranger.RemoteAddr = "203.0.113.5:1"
	wantRefused(t, c, stranger, "not trusted")
	before := c.users.roster().users.Users["ben"].Grants
	if len(before) != 1 {
		t.Errorf("the grants of the file have got those of a group: %v", before)
	}
}
