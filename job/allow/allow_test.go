package allow_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/job/allow"
	"github.com/elasticjob-go/elasticjob/job/property"
)

func list(t *testing.T, rules ...allow.Rule) *allow.List {
	t.Helper()
	l, err := allow.New(rules...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestNewRefuses(t *testing.T) {
	for want, rules := range map[string][]allow.Rule{
		`rule "": jobs: "": a pattern of jobs' names, such as pay-*, is allowed`:                                      {{}},
		`two rules are for "a"; one is allowed`:                                                                       {{Jobs: "a"}, {Jobs: "b"}, {Jobs: "a"}},
		`rule "a": references.variables: "A_[": patterns`:                                                             {{Jobs: "a", Variables: []string{"A_["}}},
		`rule "a": references.folders: "run": absolute paths of folders are allowed`:                                  {{Jobs: "a", Folders: []string{"run"}}},
		`rule "a": http.hosts: "https://a": names such as api.example.com, *.example.com or api.example.com:8443 are`: {{Jobs: "a", Hosts: []string{"https://a"}}},
		`"a:http": names`:      {{Jobs: "a", Hosts: []string{"a:http"}}},
		`"A.example": names`:   {{Jobs: "a", Hosts: []string{"A.example"}}},
		`"10.1.2.3/8": networ`: {{Jobs: "a", Networks: []string{"10.1.2.3/8"}}},
		`script.commands: "bi`: {{Jobs: "a", Commands: []string{"bin/x"}}},
		`script.environment: `: {{Jobs: "a", Environment: []string{""}}},
		`script.user: "a b": `: {{Jobs: "a", User: "a b"}},
	} {
		if _, err := allow.New(rules...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A job has what all rules say together that are for it, and nothing else.
func TestReferences(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"pay/password": "geheim\n", "pay/big": strings.Repeat("x", 64<<10+1), "etc/shadow": "root"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"link": "password", "way-out": "../etc/shadow", "absolute": filepath.Join(dir, "etc/shadow")} {
		if err := os.Symlink(to, filepath.Join(dir, "pay", name)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PAY_KEY", "k")
	t.Setenv("DB_PASSWORD", "p")
	l := list(t,
		allow.Rule{Jobs: "pay-*", Variables: []string{"PAY_*"}},
		allow.Rule{Jobs: "*-in", Folders: []string{filepath.Join(dir, "pay")}, Variables: []string{"MISSING"}},
		allow.Rule{Jobs: "trusted", Everything: true})
	const no = "does not allow"
	for _, tc := range []struct{ job, reference, want, wrong string }{
		{"pay-in", "env:PAY_KEY", "k", ""},
		{"pay-in", "env:DB_PASSWORD", "", no},
		{"pay-in", "env:MISSING", "", "no such variable"},
		{"pay-in", "file:DIR/pay/password", "geheim", ""},
		{"pay-in", "file:DIR/pay/link", "geheim", ""},
		{"pay-in", "file:DIR/pay/way-out", "", "escapes"},
		{"pay-in", "file:DIR/pay/absolute", "", "escapes"},
		{"pay-in", "file:DIR/pay/../etc/shadow", "", no},
		{"pay-in", "file:DIR/pay", "", no},
		{"pay-in", "file:DIR/payroll", "", no},
		{"pay-in", "file:DIR/etc/shadow", "", no},
		{"pay-in", "file:DIR/pay/big", "", "more than 65536 bytes"},
		{"pay-in", "file:DIR/pay/none", "", "no such file"},
		{"pay-in", "vault:x", "", "is not known"},
		{"pay-out", "file:DIR/pay/password", "", no},
		{"other", "env:PAY_KEY", "", no},
		{"trusted", "env:DB_PASSWORD", "p", ""},
		{"trusted", "file:DIR/etc/shadow", "root", ""},
	} {
		got, err := property.Expand("${"+strings.ReplaceAll(tc.reference, "DIR", dir)+"}", l.For(tc.job).Lookup())
		if got != tc.want || (err == nil) != (tc.wrong == "") || err != nil && !strings.Contains(err.Error(), tc.wrong) || tc.wrong == no && !errors.Is(err, allow.ErrNotAllowed) {
			t.Errorf("%s, %s: %q, %v", tc.job, tc.reference, got, err)
		}
	}
}

func TestCommands(t *testing.T) {
	l := list(t,
		allow.Rule{Jobs: "a*", Commands: []string{"/opt/a/*", "date"}, User: "a", Environment: []string{"A_*"}},
		allow.Rule{Jobs: "*b", User: "b"})
	for program, want := range map[string]bool{
		"/opt/a/run": true, "date": true, "/opt/a/../../bin/sh": false, "/opt/a/x/run": false, "/opt/a/": false, "/bin/date": false, "sh": false, "": false,
	} {
		if err := l.For("a").Command(program); errors.Is(err, allow.ErrNotAllowed) == want {
			t.Errorf("%s: %v", program, err)
		}
	}
	if a := l.For("a"); !a.SetsVariable("A_B") || a.SetsVariable("PATH") {
		t.Error("variables of scripts")
	}
	for job, want := range map[string]string{"a": "a", "b": "b", "c": ""} {
		if user, err := l.For(job).User(); user != want || err != nil {
			t.Errorf("%s: %q, %v", job, user, err)
		}
	}
	if _, err := l.For("ab").User(); err == nil || err.Error() != "of the rules a*, *b two have different users, a and b; one is allowed" {
		t.Error(err)
	}
	var everything *allow.List
	if everything = everything.For("a"); everything.Command("sh") != nil || !everything.SetsVariable("PATH") || !everything.HasVariable("X") || everything.String() != "everything" {
		t.Error("the nil list")
	}
}

// What a name alone does not tell is found out when a connection is made.
func TestDestinations(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
		}
	}))
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	for _, tc := range []struct {
		hosts, networks, url string
		first, ok            bool // whether the name tells that it may be allowed, and whether it is
	}{
		{"", "", "http://localhost", false, false},
		{"localhost", "", "http://localhost", true, true},
		{"local", "", "http://localhost", false, false},
		{"localhost", "", "http://LOCALHOST", true, true},
		{"local*", "", "http://localhost", true, true},
		{"localhost:" + port, "", "http://localhost", true, true},
		{"localhost:1", "", "http://localhost", false, false},
		{"localhost", "", "http://127.0.0.1", false, false},
		{"127.0.0.1", "", "http://127.0.0.1", true, true},
		{"", "127.0.0.0/8", "http://127.0.0.1", true, true},
		{"", "127.0.0.0/8", "http://[::ffff:127.0.0.1]", true, true},
		{"", "127.0.0.0/8 ::1/128", "http://localhost", true, true},
		{"", "10.0.0.0/8", "http://localhost", true, false},
		{"", "10.0.0.0/8", "http://127.0.0.1", false, false},
		{"localhost", "", "http://localhost/?to=http://127.0.0.1", true, false},
	} {
		l := list(t, allow.Rule{Jobs: "*", Hosts: strings.Fields(tc.hosts), Networks: strings.Fields(tc.networks)}).For("job")
		u, err := url.Parse(tc.url)
		if err != nil {
			t.Fatal(err)
		}
		u.Host = net.JoinHostPort(u.Hostname(), port)
		if to := u.Query().Get("to"); to != "" {
			u.RawQuery = "to=" + to + ":" + port
		}
		if err := l.URL(u); errors.Is(err, allow.ErrNotAllowed) == tc.first {
			t.Errorf("%+v: by its name: %v", tc, err)
		}
		transport := &http.Transport{DisableKeepAlives: true}
		l.Guard(transport, net.Dialer{})
		response, err := (&http.Client{Transport: transport}).Get(u.String())
		if err == nil {
			_ = response.Body.Close()
		}
		if (err == nil) != tc.ok || err != nil && !errors.Is(err, allow.ErrNotAllowed) {
			t.Errorf("%+v: %v", tc, err)
		}
	}
}

// What goes through a proxy is judged by its name, and a proxy of the configuration is a destination, too.
func TestProxies(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	defer proxy.Close()
	address, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		hosts []string
		ok    bool
	}{
		{[]string{"api.example.com", "127.0.0.1"}, true},
		{[]string{"api.example.com"}, false},
		{[]string{"127.0.0.1"}, false},
	} {
		transport := &http.Transport{DisableKeepAlives: true, Proxy: http.ProxyURL(address)}
		list(t, allow.Rule{Jobs: "*", Hosts: tc.hosts, Networks: []string{"192.0.2.0/24"}}).Guard(transport, net.Dialer{})
		response, err := (&http.Client{Transport: transport}).Get("http://api.example.com/")
		if err == nil {
			_ = response.Body.Close()
		}
		if (err == nil) != tc.ok || err != nil && !errors.Is(err, allow.ErrNotAllowed) {
			t.Errorf("%v: %v", tc.hosts, err)
		}
	}
	if _, err := list(t).Dial(context.Background(), net.Dialer{}, "tcp", "no port"); err == nil {
		t.Error("an address without a port")
	}
}

// What is refused names the key of a job file that would list it.
func TestRefusedNamesTheKey(t *testing.T) {
	list, err := allow.New(allow.Rule{Jobs: "*", Networks: []string{"10.1.0.0/16"}})
	if err != nil {
		t.Fatal(err)
	}
	lookUp := func(name string) error { _, _, err := list.Lookup()(name); return err }
	for key, err := range map[string]error{
		"script.commands":      list.Command("/bin/true"),
		"http.hosts":           list.Destination("10.2.0.1", "80"),
		"references.variables": lookUp("env:HOME"),
		"references.folders":   lookUp("file:/etc/passwd"),
	} {
		if !errors.Is(err, allow.ErrNotAllowed) || !strings.Contains(err.Error(), key+" in its section allow") {
			t.Errorf("the error does not name %s: %v", key, err)
		}
	}
}
