package cluster

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// folder is a temporary folder. It is removed by close, or when this process is killed.
type folder struct {
	path  string
	broom *exec.Cmd
	pipe  io.Closer
}

func newFolder() (*folder, error) {
	path, err := os.MkdirTemp("", "elasticjob-")
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	f := &folder{path: path}
	if err := f.startBroom(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(path))
	}
	return f, nil
}

// startBroom starts the process that removes the folder. It outlives this one.
func (f *folder) startBroom() error {
	cmd, err := command(roleBroom, f.path)
	if err != nil {
		return err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	f.broom, f.pipe = cmd, pipe
	return nil
}

func (f *folder) at(names ...string) string {
	return filepath.Join(append([]string{f.path}, names...)...)
}

// close removes the folder, or moves it to where it is kept.
func (f *folder) close(keep string) error {
	var err error
	if keep != "" {
		err = os.CopyFS(keep, os.DirFS(f.path))
	}
	_ = f.pipe.Close()
	if err := errors.Join(err, f.broom.Wait()); err != nil {
		return fmt.Errorf("cluster: folder: %w", err)
	}
	return nil
}
