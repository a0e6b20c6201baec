package target_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/target"
)

// contexts is the contexts file of these tests.
const contexts = `current: dev
contexts:
  dev: {store: "etcd://dev/ns", user: deva, password: devpass}
  prod: {store: "zookeeper://prod/ns", user: produ, passwordFile: prod.txt, cacert: /ca.pem, history: "sqlite:/h.db"}
`

func write(t *testing.T, mode os.FileMode, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestPrecedence(t *testing.T) {
	file := write(t, 0o600, contexts)
	dev := target.Settings{Store: "etcd://dev/ns", User: "deva", Password: "devpass"}
	prod := target.Settings{Store: "zookeeper://prod/ns", User: "produ", PasswordFile: filepath.Join(filepath.Dir(file), "prod.txt"), CACert: "/ca.pem", History: "sqlite:/h.db"}
	with := func(s target.Settings, change func(*target.Settings)) target.Settings { change(&s); return s }
	for name, tc := range map[string]struct {
		choice  target.Choice
		want    target.Settings
		context string
		err     string // a part of it
	}{
		"the current context": {want: dev, context: "dev"},
		"a context by flag":   {choice: target.Choice{FlagContext: "prod"}, want: prod, context: "prod"},
		"a context by environment": {
			choice: target.Choice{EnvironmentContext: "prod"}, want: prod, context: "prod",
		},
		"a flag's context before that of the environment": {
			choice: target.Choice{FlagContext: "dev", EnvironmentContext: "prod"}, want: dev, context: "dev",
		},
		"a store by flag: nothing of the context": {
			choice: target.Choice{Flags: target.Settings{Store: "etcd://h/ns"}}, want: target.Settings{Store: "etcd://h/ns"},
		},
		"a store by environment: nothing of the context": {
			choice: target.Choice{Environment: target.Settings{Endpoints: "h:1"}}, want: target.Settings{Endpoints: "h:1"},
		},
		"a store by flag, its user by environment": {
			choice: target.Choice{Flags: target.Settings{Store: "etcd://h/ns"}, Environment: target.Settings{Store: "etcd://other/ns", User: "u", Password: "p"}},
			want:   target.Settings{Store: "etcd://h/ns", User: "u", Password: "p"},
		},
		"a user by flag, the password by environment": {
			choice: target.Choice{Flags: target.Settings{Store: "etcd://h/ns", User: "u"}, Environment: target.Settings{Password: "p"}},
			want:   target.Settings{Store: "etcd://h/ns", User: "u", Password: "p"},
		},
		"a user by flag, the password of another one by environment": {
			choice: target.Choice{Flags: target.Settings{Store: "etcd://h/ns", User: "u"}, Environment: target.Settings{User: "v", Password: "p"}},
			want:   target.Settings{Store: "etcd://h/ns", User: "u"},
		},
		"a store by flag, whatever context the environment has": {
			choice: target.Choice{Flags: target.Settings{Store: "etcd://h/ns"}, EnvironmentContext: "prod"}, want: target.Settings{Store: "etcd://h/ns"},
		},
		"a flag's context takes the place of the environment": {
			choice: target.Choice{FlagContext: "dev", Environment: target.Settings{Store: "etcd://other/ns", Namespace: "n", Password: "p"}}, want: dev, context: "dev",
		},
		"a namespace over the context's": {
			choice: target.Choice{Flags: target.Settings{Namespace: "n"}}, want: with(dev, func(s *target.Settings) { s.Namespace = "n" }), context: "dev",
		},
		"another user: not with the context's password": {
			choice: target.Choice{Flags: target.Settings{User: "me"}}, want: target.Settings{Store: "etcd://dev/ns", User: "me"}, context: "dev",
		},
		"the same user: with the context's password": {
			choice: target.Choice{Flags: target.Settings{User: "deva"}}, want: dev, context: "dev",
		},
		"a password file over the context's password": {
			choice: target.Choice{Flags: target.Settings{PasswordFile: "f"}}, want: target.Settings{Store: "etcd://dev/ns", User: "deva", PasswordFile: "f"}, context: "dev",
		},
		"a flag's store and context": {
			choice: target.Choice{Flags: target.Settings{Store: "etcd://h/ns"}, FlagContext: "dev"}, err: "not both",
		},
		"the environment's store and context": {
			choice: target.Choice{Environment: target.Settings{Store: "etcd://h/ns"}, EnvironmentContext: "dev"}, err: "not both",
		},
		"no such context": {choice: target.Choice{FlagContext: "moon"}, err: `"moon"`},
	} {
		t.Run(name, func(t *testing.T) {
			tc.choice.File = file
			got, context, err := tc.choice.Resolve()
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("got %v, want an error with %q", err, tc.err)
				}
				return
			}
			if err != nil || got != tc.want || context != tc.context {
				t.Errorf("got %+v of %q, %v; want %+v of %q", got, context, err, tc.want, tc.context)
			}
		})
	}
	if _, _, err := (target.Choice{File: filepath.Join(t.TempDir(), "none")}).Resolve(); !errors.Is(err, target.ErrNoStore) {
		t.Errorf("without anything: %v", err)
	}
}

// An address or a context has the mark of production if it leads where one leads that is marked; a file that cannot be
// read keeps nobody from an address.
func TestNamed(t *testing.T) {
	file := write(t, 0o600, `contexts:
  prod: {store: "etcd://h,i/ns", production: true}
  same: {store: "etcd://i:2379", namespace: ns}
  dev: {store: "etcd://h/dev"}
`)
	for _, tc := range []struct {
		text, file, context string
		production, fails   bool
	}{
		{text: "prod", context: "prod", production: true},
		{text: "same", context: "same", production: true},
		{text: "dev", context: "dev"},
		{text: "moon", context: "moon", fails: true},
		{text: "etcd://i/ns", production: true},
		{text: "etcd://h/dev"},
		{text: "zookeeper://h/ns"},
		{text: "etcd://i/ns", file: t.TempDir()},
		{text: "prod", file: t.TempDir(), fails: true},
	} {
		s, context, err := target.Named(tc.text, func() (string, error) { return cmp.Or(tc.file, file), nil })
		if s.Production != tc.production || (err != nil) != tc.fails || err == nil && context != tc.context {
			t.Errorf("%+v: got %+v of %q, %v", tc, s, context, err)
		}
	}
}

func TestAddresses(t *testing.T) {
	for _, tc := range []struct {
		settings target.Settings
		want     string // String of the target, or a part of the error behind a !
	}{
		{target.Settings{Store: "etcd://a,b:1/shop/jobs"}, "etcd://a:2379,b:1/shop/jobs"},
		{target.Settings{Store: "etcd://[::1],[::2]:1/ns"}, "etcd://[::1]:2379,[::2]:1/ns"},
		{target.Settings{Store: "zookeeper://a,b:1/ns/"}, "zookeeper://a,b:1/ns"},
		{target.Settings{Store: "etcd+tls://a/ns"}, "etcd+tls://a:2379/ns"},
		{target.Settings{Store: "etcd://ops@a/ns"}, "etcd://ops@a:2379/ns"},
		{target.Settings{Store: "etcd", Endpoints: "a:1, b:2", Namespace: "ns"}, "etcd://a:1,b:2/ns"},
		{target.Settings{Store: "zookeeper://a/ns", ServerName: "zk"}, "zookeeper+tls://a/ns"},
		{target.Settings{Store: "redis://a/ns"}, "!allowed are etcd://"},
		{target.Settings{Store: "etcd+ssl://a/ns"}, "!allowed are etcd://"},
		{target.Settings{Store: "etcd://a"}, "!no namespace"},
		{target.Settings{Store: "etcd:///ns"}, "!no endpoints"},
		{target.Settings{Store: "etcd://a/a//b"}, "!namespace"},
		{target.Settings{Store: "etcd://ops:hunter2@a/ns"}, "!a password does not belong"},
		{target.Settings{Store: "redis://ops:hunter2@a/ns"}, "!***@a"},
		{target.Settings{Store: "etcd", Endpoints: "ops:hunter2@a", Namespace: "ns"}, "!has an @"},
		{target.Settings{Store: "etcd://a/ns", Password: "hunter2"}, "!no user"},
		{target.Settings{Store: "etcd://a/ns", User: "u", Password: "hunter2", PasswordFile: "f"}, "!one of them"},
		{target.Settings{Store: "etcd://a/ns", User: "u", Password: "${env:NO_SUCH_VARIABLE}"}, "!NO_SUCH_VARIABLE"},
		{target.Settings{Store: "etcd://a/ns", CACert: "/no/such/file"}, "!cacert"},
		{target.Settings{Store: "etcd://a/ns", Cert: "/no/such/file"}, "!one of them is missing"},
	} {
		got, err := tc.settings.Target()
		if want, isError := strings.CutPrefix(tc.want, "!"); isError {
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%+v: got %v, %v; want an error with %q, without the password", tc.settings, got, err, want)
			}
			continue
		}
		if err != nil || got.String() != tc.want {
			t.Errorf("%+v: got %v, %v; want %s", tc.settings, got, err, tc.want)
		}
	}
}

// A target can be printed in any way, and settings are shown, without their secrets.
func TestSecretsAreNotShown(t *testing.T) {
	t.Setenv("OF_THIS_TEST", "hunter2")
	for _, password := range []string{"hunter2", "${env:OF_THIS_TEST}"} {
		got, err := target.Settings{Store: "etcd://a/ns", User: "u", Password: password}.Target()
		if err != nil {
			t.Fatal(err)
		}
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d"} {
			if text := fmt.Sprintf(verb, got); strings.Contains(text, "hunter2") {
				t.Errorf("%s shows %s", verb, text)
			}
		}
		c, ok := got.EtcdConfig()
		if !ok || c.Password != "hunter2" {
			t.Errorf("the password %q is %q", password, c.Password)
		}
	}
	masked := target.Settings{Store: "etcd://u:hunter2@a/ns", Endpoints: "u:hunter2@a", Password: "hunter2", History: "mysql:u:hunter2@tcp(h)/db"}.Mask()
	if text := fmt.Sprintf("%+v", masked); strings.Contains(text, "hunter2") {
		t.Errorf("shows %s", text)
	}
	shown := target.Settings{Password: "${file:/p}", History: "postgres:${env:DSN}"}
	if shown.Mask() != shown || (target.Settings{History: "sqlite:/h.db"}).Mask().History != "sqlite:/h.db" {
		t.Errorf("references are masked: %+v", shown.Mask())
	}
	if got := (target.Settings{Password: "${env:A}hunter2"}).Mask(); strings.Contains(got.Password, "hunter2") {
		t.Errorf("shows %+v", got)
	}
	for history, isRefused := range map[string]bool{
		"": false, "sqlite:/a:b@c": false, "postgres://u@h/d": false, "postgres://u:${env:P}@h/d": false, "mysql:${file:/dsn}": false,
		"postgres://u:p@h/d": true, "mysql:u:p@tcp(h:1)/d": true, "postgres:password=p host=h": true, "postgres:host=h password=${env:P}": false,
	} {
		if err := (target.Settings{History: history}).CheckFlags(); (err != nil) != isRefused {
			t.Errorf("--history %s: %v", history, err)
		}
	}
	for _, h := range []string{"oracle:hunter2", "mysql:hunter2", "postgres://u:hunter2@:x/", "sqlite:/no/such/hunter2.db"} {
		past, err := target.Settings{History: h}.OpenHistory()
		if err == nil {
			_, err = past.JobNames(t.Context(), "", 1)
			err = errors.Join(err, past.Close())
		}
		if err == nil {
			t.Errorf("%s is taken", h)
		} else if strings.Contains(err.Error(), "hunter2") && !strings.HasPrefix(h, "sqlite") {
			t.Errorf("%s: %v", h, err)
		}
	}
}

// A database of the history has one namespace: that of a context does not count for another one.
func TestHistoryOfAnotherNamespace(t *testing.T) {
	file := write(t, 0o600, contexts)
	const other = "context prod has a history, of namespace ns; for that of namespace n give --history"
	for name, tc := range map[string]struct {
		flags, environment target.Settings
		context            string
		want, err          string
	}{
		"of the context":                        {want: "sqlite:/h.db"},
		"the context's namespace by flag":       {flags: target.Settings{Namespace: "ns"}, want: "sqlite:/h.db"},
		"another namespace by flag":             {flags: target.Settings{Namespace: "n"}, err: other},
		"another namespace by environment":      {environment: target.Settings{Namespace: "n"}, err: other},
		"another namespace and its history":     {flags: target.Settings{Namespace: "n", History: "sqlite:/n.db"}, want: "sqlite:/n.db"},
		"its history by environment":            {flags: target.Settings{Namespace: "n"}, environment: target.Settings{History: "sqlite:/n.db"}, want: "sqlite:/n.db"},
		"another namespace, none has a history": {flags: target.Settings{Namespace: "n"}, context: "dev"},
		"another store: nothing of the context": {flags: target.Settings{Store: "zookeeper://prod/n"}},
	} {
		choice := target.Choice{Flags: tc.flags, Environment: tc.environment, EnvironmentContext: "prod", File: file}
		if tc.context != "" {
			choice.EnvironmentContext = tc.context
		}
		s, _, err := choice.Resolve()
		if err != nil || s.History != tc.want {
			t.Errorf("%s: got %q, %v; want %q", name, s.History, err, tc.want)
		}
		if s.History != "" {
			continue // there is no such database
		}
		if past, err := s.OpenHistory(); past != nil || tc.err == "" && err != nil || tc.err != "" && (err == nil || err.Error() != tc.err) {
			t.Errorf("%s: %v, want %q", name, err, tc.err)
		}
	}
}
