package browser

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// ErrNotInstalled: there is no Chromium on this machine.
var ErrNotInstalled = errors.New("no Chromium is installed; get one with `apt-get install chromium-headless-shell`, or run `make test`")

// installed returns the path of a Chromium. The headless shell is the smallest, and the quickest to start.
func installed() (string, error) {
	for _, name := range []string{"chromium-headless-shell", "chromium", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrNotInstalled
}

// Require skips a test where Chromium is not installed. It fails the test instead if the environment
// variable REQUIRE_BROWSER is set.
func Require(t testing.TB) {
	t.Helper()
	if _, err := installed(); err != nil {
		if strings.TrimSpace(os.Getenv("REQUIRE_BROWSER")) != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}
