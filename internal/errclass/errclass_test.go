package errclass_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/errclass"
)

// The first error with a code counts, in the order in which errors.Is looks.
func TestCoded(t *testing.T) {
	plain, denied, away := errclass.Aborted.New("", "conflict"), errclass.PermissionDenied.New("denied", "no"), errclass.Unavailable.New("away", "away")
	for _, tt := range []struct{ err, want error }{
		{nil, nil},
		{errors.New("other"), nil},
		{plain, nil},
		{denied, denied},
		{fmt.Errorf("job settle: %w", denied), denied},
		{fmt.Errorf("%w: %w", away, denied), away},
		{fmt.Errorf("%w: %w", plain, fmt.Errorf("a: %w", errors.Join(errors.New("other"), denied, away))), denied},
	} {
		if got := errclass.Coded(tt.err); (got != nil || tt.want != nil) && error(got) != tt.want {
			t.Errorf("%v: %v, want %v", tt.err, got, tt.want)
		}
	}
}

// Each sentinel error of these packages has a class, but for those that only come with another one, or end nothing
// but the context of a handler, a session or a latch. A code tells an error from all others, for clients of the API; that
// of several is known to client.Error.
func TestSentinelsHaveAClass(t *testing.T) {
	without := map[string]string{
		"coord":   "ErrNodeExists ErrVersion ErrNotOwner ErrNotEmpty ErrRestored ErrSessionEnded ErrLatchLost ErrReleased ErrInvalidPath ErrInvalidDepth ErrInvalidCommit ErrNoClock",
		"jobtype": "ErrJobRemoved ErrInstanceRemoved ErrTimeout ErrKilled ErrShutdown ErrItemLost ErrItemMoves ErrDisabled ErrListenerTimeout ErrTooManyTicks",
	}
	codes := map[string]string{}
	for _, dir := range []string{"coord", "jobtype", "ops", "ops/declare", "ops/migrate", "ops/rights", "trace/history", "console/access", "console/connection"} {
		files, err := filepath.Glob(filepath.Join("..", "..", dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		classed := 0
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`(?m)^(?:var |\t)(Err[A-Z]\w*) += (?:(errors\.New|fmt\.Errorf)|errclass\.\w+\.New\("([^"]*)")`).FindAllStringSubmatch(string(text), -1) {
				if m[2] == "" {
					if first, isUsed := codes[m[3]]; isUsed && !strings.Contains("invalid store-away closing", m[3]) {
						t.Errorf("%s.%s has code %q, as %s has", dir, m[1], m[3], first)
					}
					classed++
					codes[m[3]] = dir + "." + m[1]
				} else if found = append(found, m[1]); !strings.Contains(" "+without[dir]+" ", " "+m[1]+" ") {
					t.Errorf("%s.%s has no class: make it by package errclass", dir, m[1])
				}
			}
		}
		if classed == 0 || len(found) != len(strings.Fields(without[dir])) {
			t.Errorf("%s: %d errors have a class, %q have none; expected were %q", dir, classed, found, without[dir])
		}
	}
}
