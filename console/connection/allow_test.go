package connection_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/connection"
)

// Over the network nobody can have a variable, or a file, sent to a server of his that the operator has not
// allowed; nor find out whether it is there.
func TestReferencesOverTheNetwork(t *testing.T) {
	t.Setenv("ALLOWED", hunter)
	t.Setenv("OTHER", hunter)
	w := newWorld(t)
	folder, outside := t.TempDir(), t.TempDir()
	for _, path := range []string{filepath.Join(folder, "password"), filepath.Join(folder+"-more", "password"), filepath.Join(outside, "password")} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(hunter+"\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(outside, "password"), filepath.Join(folder, "link")); err != nil {
		t.Fatal(err)
	}
	key := withKey(t)
	b := w.book(t, func(o *connection.Options) {
		key(o)
		o.Allow = connection.Allow{Variables: []string{"ALLOWED"}, Folders: []string{folder}}
	})
	refused := map[string]error{}
	for reference, isAllowed := range map[string]bool{
		"${env:ALLOWED}":                  true,
		"${env:OTHER}":                    false,
		"${env:NOT_SET}":                  false,
		"${file:" + folder + "/password}": true,
		"${file:" + folder + "/link}":     false,
		"${file:" + folder + "/none}":     false,
		"${file:" + folder + "/../" + filepath.Base(outside) + "/password}": false,
		"${file:" + folder + "-more/password}":                              false,
		"${file:" + outside + "/password}":                                  false,
		"${file:" + outside + "/none}":                                      false,
		"${file:/etc/passwd}":                                               false,
		"enc:v1:AAAA":                                                       false,
	} {
		n := near("prod")
		n.User, n.Password = "ops", connection.Plain(reference)
		_, err := b.PutNamespace(t.Context(), n, connection.AnyVersion)
		fault, _ := errors.AsType[*connection.EntryError](err)
		if (err == nil) != isAllowed || err != nil && fault.Field != "password" {
			t.Errorf("%s: %v", reference, err)
		}
		refused[reference] = err
		w.passwords = nil
		if err := b.TestNamespace(t.Context(), n); (err == nil) != isAllowed {
			t.Errorf("test %s: %v", reference, err)
		}
		if isAllowed != (len(w.passwords) == 1 && w.passwords[0] == "near:1 "+hunter) {
			t.Errorf("%s: sent %q", reference, w.passwords)
		}
	}
	same := func(a, b, name, other string) bool {
		return strings.ReplaceAll(refused[a].Error(), name, other) == refused[b].Error()
	}
	if !same("${env:OTHER}", "${env:NOT_SET}", "OTHER", "NOT_SET") || !same("${file:"+outside+"/password}", "${file:"+outside+"/none}", "/password", "/none") {
		t.Errorf("the error tells what is there: %v", refused)
	}
	// A text that is more than a reference is a password, and stays what it is.
	n := near("odd")
	n.User, n.Password = "ops", connection.Plain("x${env:OTHER}")
	if _, err := b.PutNamespace(t.Context(), n, connection.NoVersion); err != nil {
		t.Fatal(err)
	}
	w.passwords = nil
	if _, err := b.Ops(t.Context(), "odd"); err != nil || w.passwords[0] != "near:1 x${env:OTHER}" {
		t.Errorf("%v, sent %q", err, w.passwords)
	}
	// Files of TLS and SQLite, too.
	n = near("tls")
	for path, isAllowed := range map[string]bool{folder + "/password": true, outside + "/password": false, "/etc/passwd": false} {
		n.TLS = &connection.TLS{CACert: path}
		if err := b.TestNamespace(t.Context(), n); (err == nil) != isAllowed {
			t.Errorf("%s: %v", path, err)
		}
		d := connection.Database{Name: "d", Driver: connection.SQLite, Address: path}
		if err := b.TestDatabase(t.Context(), d); (err == nil) != isAllowed {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// Without a key no password gets into the file. One that is there by hand is taken, and stays until there is
// a key.
func TestWithoutAKey(t *testing.T) {
	w := newWorld(t)
	w.write(t, "namespaces:\n  prod: {kind: etcd, endpoints: ['near:1'], namespace: a, user: ops, password: "+hunter+"}\n")
	b := w.book(t, nil)
	n := near("other")
	n.User, n.Password = "ops", connection.Plain(hunter+hunter)
	if _, err := b.PutNamespace(t.Context(), n, connection.NoVersion); !errors.Is(err, connection.ErrNoKey) || strings.Contains(w.read(t), hunter+hunter) {
		t.Errorf("%v, %s", err, w.read(t))
	}
	if _, err := b.Reseal(t.Context()); !errors.Is(err, connection.ErrNoKey) {
		t.Error(err)
	}
	n, err := b.Namespace("prod")
	if err != nil {
		t.Fatal(err)
	}
	n.Path = "b"
	if n, err = b.PutNamespace(t.Context(), n, n.Version); err != nil || n.Path != "b" {
		t.Fatalf("%+v, %v", n, err)
	}
	if _, err := b.Ops(t.Context(), "prod"); err != nil || w.passwords[0] != "near:1 "+hunter {
		t.Errorf("%v, sent %q", err, w.passwords)
	}
	closeBook(t, b)
	b = w.book(t, withKey(t))
	if count, err := b.Reseal(t.Context()); count != 1 || err != nil || strings.Contains(w.read(t), hunter) {
		t.Errorf("%d, %v: %s", count, err, w.read(t))
	}
	if count, err := b.Reseal(t.Context()); count != 0 || err != nil {
		t.Errorf("again: %d, %v", count, err)
	}
	w.passwords = nil
	if _, err := b.Ops(t.Context(), "prod"); err != nil || w.passwords[0] != "near:1 "+hunter {
		t.Errorf("%v, sent %q", err, w.passwords)
	}
}
