package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// demo is `elasticjob console --demo`, in a process of its own.
type demo struct {
	url, user, password string

	cmd    *exec.Cmd
	folder string // of the command
}

// startDemo builds the command, starts it, and returns when it serves.
func startDemo(ctx context.Context) (*demo, error) {
	folder, err := os.MkdirTemp("", "elasticjob-screenshots-")
	if err != nil {
		return nil, err
	}
	d := &demo{folder: folder}
	command := filepath.Join(folder, "elasticjob")
	build := exec.CommandContext(ctx, "go", "build", "-o", command, "github.com/elasticjob-go/elasticjob/cmd/elasticjob")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return nil, errors.Join(fmt.Errorf("build the command: %w", err), d.stop())
	}
	d.cmd = exec.Command(command, "console", "--demo", "--listen", "127.0.0.1:0")
	out, err := d.cmd.StdoutPipe()
	if err == nil {
		err = d.cmd.Start()
	}
	if err != nil {
		d.cmd = nil
		return nil, errors.Join(fmt.Errorf("start the demo: %w", err), d.stop())
	}
	if err := d.read(out); err != nil {
		return nil, errors.Join(err, d.stop())
	}
	return d, nil
}

// read reads where the demo is, and who may log in.
func (d *demo) read(out io.Reader) error {
	said := map[string]string{}
	lines := bufio.NewScanner(out)
	for said["password"] == "" {
		if !lines.Scan() {
			return errors.Join(errors.New("the demo ended before it served"), lines.Err())
		}
		if words := strings.Fields(lines.Text()); len(words) == 2 {
			said[words[0]] = words[1]
		}
	}
	d.url, d.user, d.password = said["console"], said["user"], said["password"]
	return nil
}

// stop ends the demo as Ctrl-C does, and removes what was built.
func (d *demo) stop() error {
	var ended error
	if d.cmd != nil {
		_ = d.cmd.Process.Signal(syscall.SIGTERM) // fails if it has ended
		ended = d.cmd.Wait()
	}
	return errors.Join(ended, os.RemoveAll(d.folder))
}

// ask reads an answer of the API.
func (d *demo) ask(ctx context.Context, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url+"/api/v1"+path, nil)
	if err != nil {
		return err
	}
	request.SetBasicAuth(d.user, d.password)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // it is read
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", path, response.Status)
	}
	return json.NewDecoder(response.Body).Decode(into)
}
