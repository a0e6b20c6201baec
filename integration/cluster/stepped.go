package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The changed copy of package time: Now shows the time of day with an offset, and the monotonic reading
// as it is, as after somebody has set the clock.
const (
	nowBegins = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	stepsNow  = nowBegins + "\tsec, nsec = stepped(sec, nsec)\n"
	stepping  = `package time

import "sync/atomic"

var wallStep atomic.Int64

// SetWallStep sets how far the wall clock is ahead of the host's.
func SetWallStep(d Duration) { wallStep.Store(int64(d)) }

func stepped(sec int64, nsec int32) (int64, int32) {
	n := int64(nsec) + wallStep.Load()
	sec += n / 1e9
	if n %= 1e9; n < 0 {
		n += 1e9
		sec--
	}
	return sec, int32(n)
}
`
)

// BuildStepped builds a program for Options.Program, in a folder: in a worker that it plays, ClockOffset and
// SetClock set the wall clock of the whole process, as an operator or NTP sets that of a host. It returns the
// program's path.
func BuildStepped(ctx context.Context, folder string) (string, error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("cluster: go env: %w", err)
	}
	original := filepath.Join(strings.TrimSpace(string(root)), "src", "time", "time.go")
	text, err := os.ReadFile(original)
	if err != nil {
		return "", fmt.Errorf("cluster: %w", err)
	}
	if bytes.Count(text, []byte(nowBegins)) != 1 {
		return "", fmt.Errorf("cluster: %s: Now is not as it is known here", original)
	}
	changed, added, overlay, program := filepath.Join(folder, "time.go"), filepath.Join(folder, "stepped.go"), filepath.Join(folder, "overlay.json"), filepath.Join(folder, "stepped")
	list, err := json.Marshal(map[string]map[string]string{"Replace": {
		original: changed, filepath.Join(filepath.Dir(original), "stepped.go"): added,
	}})
	if err := errors.Join(err,
		os.WriteFile(changed, bytes.Replace(text, []byte(nowBegins), []byte(stepsNow), 1), 0o600),
		os.WriteFile(added, []byte(stepping), 0o600), os.WriteFile(overlay, list, 0o600)); err != nil {
		return "", fmt.Errorf("cluster: %w", err)
	}
	build := exec.CommandContext(ctx, "go", "build", "-overlay", overlay, "-tags", "wallstep", "-ldflags", "-w", "-o", program,
		"github.com/elasticjob-go/elasticjob/integration/stepped")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cluster: %w: %s", err, out)
	}
	return program, nil
}
