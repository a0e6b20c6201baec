package database

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// ErrNotInstalled: the server's programs are not on this machine.
var ErrNotInstalled = errors.New("the server is not installed; get it with `apt-get install mariadb-server-core mariadb-client-core postgresql`, or run `make test`")

// Require skips a test where the server is not installed, and with go test -short. It fails the test instead of the
// former, and does not do the latter, if the environment variable REQUIRE_DATABASES is set.
func Require(t testing.TB, kind Kind) {
	t.Helper()
	if testing.Short() && os.Getenv("REQUIRE_DATABASES") == "" {
		t.Skip("go test -short does without database servers")
	}
	if _, err := install(kind); err != nil {
		lacks(t, err)
	}
}

// RequireDisk skips a test that needs Config.Disk where it cannot be mounted; or fails it, as
// Require does.
func RequireDisk(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		lacks(t, errors.New("only root may mount a small disk"))
	}
}

func lacks(t testing.TB, err error) {
	t.Helper()
	if strings.TrimSpace(os.Getenv("REQUIRE_DATABASES")) != "" {
		t.Fatal(err)
	}
	t.Skip(err)
}

func install(kind Kind) (product, error) {
	var p product
	var err error
	switch kind {
	case MariaDB:
		p, err = findMariaDB()
	case PostgreSQL:
		p, err = findPostgreSQL()
	default:
		return nil, fmt.Errorf("there is no database server %v: MariaDB and PostgreSQL are allowed", kind)
	}
	if err != nil {
		return nil, fmt.Errorf("%v: %w (%w)", kind, ErrNotInstalled, err)
	}
	return p, nil
}

// find looks for programs in the folders, and then in PATH.
func find(folders []string, names ...string) ([]string, error) {
	paths := make([]string, len(names))
	for i, name := range names {
		for _, folder := range folders {
			if path, err := exec.LookPath(filepath.Join(folder, name)); err == nil {
				paths[i] = path
				break
			}
		}
		if paths[i] != "" {
			continue
		}
		path, err := exec.LookPath(name)
		if err != nil {
			return nil, err
		}
		paths[i] = path
	}
	return paths, nil
}

// debianPostgreSQL is where Debian has the programs of each version; the newest comes first.
func debianPostgreSQL() []string {
	folders, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // the pattern is well-formed
	version := func(folder string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(folder))) // others come last
		return n
	}
	slices.SortFunc(folders, func(a, b string) int { return version(b) - version(a) })
	return folders
}
