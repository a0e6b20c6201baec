package target_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/target"
)

func TestFileIsReadAndWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "config.yaml")
	f, err := target.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Set("dev", target.Settings{Store: "etcd://a/ns"}), f.Set("prod", target.Settings{Store: "etcd://b/ns", Password: "p"}), f.Save()); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if f, err = target.ReadFile(path); err != nil || f.Current != "dev" || strings.Join(f.Names(), ",") != "dev,prod" {
		t.Fatalf("read back: %+v, %v", f, err)
	}
	if err := errors.Join(f.Use("prod"), f.Delete("prod"), f.Save()); err != nil {
		t.Fatal(err)
	}
	if f, err = target.ReadFile(path); err != nil || f.Current != "" || len(f.Contexts) != 1 {
		t.Errorf("after the current one has gone: %+v, %v", f, err)
	}
	if err := f.Use("prod"); !errors.Is(err, target.ErrNoContext) {
		t.Errorf("use of one that is gone: %v", err)
	}
	if err := f.Set("../x", target.Settings{}); err == nil {
		t.Error("a name with a slash is taken")
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestLinkStaysOne(t *testing.T) {
	folder := t.TempDir()
	real, link := filepath.Join(folder, "real.yaml"), filepath.Join(folder, "config.yaml")
	if err := errors.Join(os.WriteFile(real, nil, 0o600), os.Symlink(real, link)); err != nil {
		t.Fatal(err)
	}
	f, err := target.ReadFile(link)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Set("dev", target.Settings{Store: "etcd://a/ns"}), f.Save()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info.Mode(), err)
	}
	if f, err = target.ReadFile(real); err != nil || len(f.Contexts) != 1 {
		t.Errorf("the file has %+v, %v", f, err)
	}
}

func TestFileIsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		mode os.FileMode
		text string
		want string
	}{
		"others may read a password":  {0o644, contexts, "chmod 600"},
		"others may read a DSN":       {0o640, `contexts: {a: {history: "mysql:u:hunter2@tcp(h)/db"}}`, "chmod 600"},
		"an unknown key":              {0o600, "contexts: {a: {stroe: x}}", "stroe"},
		"no YAML":                     {0o600, "contexts: [hunter2", "contexts file"},
		"a value of another kind":     {0o600, "contexts: {a: {password: [hunter2]}}", "line 1"},
		"a value with a backquote":    {0o600, "contexts: {a: '`hunter2'}", "line 1"},
		"a name that is not allowed":  {0o600, "contexts: {a/b: {store: x}}", "a/b"},
		"a file that is much too big": {0o600, strings.Repeat("#", 1<<20+1), "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := target.ReadFile(write(t, tc.mode, tc.text))
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v, want an error with %q, without the secret", err, tc.want)
			}
		})
	}
	for _, harmless := range []string{"contexts: {a: {store: 'etcd://a/ns', user: u, password: '${env:P}', history: 'sqlite:/h.db'}}", ""} {
		if _, err := target.ReadFile(write(t, 0o644, harmless)); err != nil {
			t.Errorf("without a secret: %v", err)
		}
	}
}
