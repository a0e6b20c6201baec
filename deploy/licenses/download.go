package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
)

// standard names Go's standard library among the modules.
const standard = "Go standard library"

// download adds the folders of modules, by name and version, and that of the standard library.
func download(modules []debug.Module, folders map[string]string) error {
	root, err := command("env", "GOROOT")
	if err != nil {
		return err
	}
	folders[standard] = strings.TrimSpace(string(root))
	args := []string{"mod", "download", "-json"}
	for _, m := range modules {
		args = append(args, m.Path+"@"+m.Version)
	}
	if len(modules) == 0 {
		return nil
	}
	answer, err := command(args...)
	if err != nil && len(answer) == 0 {
		return err
	}
	for decoder := json.NewDecoder(bytes.NewReader(answer)); ; {
		var m struct{ Path, Version, Dir, Error string }
		if err := decoder.Decode(&m); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("go mod download: %w", err)
		}
		if m.Error != "" {
			return fmt.Errorf("%s %s: %s", m.Path, m.Version, m.Error)
		}
		folders[m.Path+" "+m.Version] = m.Dir
	}
}

// command returns what the go command prints, outside of any module.
func command(args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = os.TempDir()
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOTOOLCHAIN="+runtime.Version())
	out, err := cmd.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return out, fmt.Errorf("go %s: %w: %s", args[0], err, bytes.TrimSpace(failed.Stderr))
	}
	return out, err
}
