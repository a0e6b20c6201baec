package script

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// explain adds to the error of a start what it is about. The system says "no such file" also of
// a program that exists, if it lacks what its first line names.
func explain(path string, err error) error {
	info, unknown := os.Stat(path)
	switch {
	case unknown != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%w: it is a folder", err)
	case errors.Is(err, fs.ErrPermission) && info.Mode().Perm()&0o111 == 0:
		return fmt.Errorf("%w: the file is not executable", err)
	case !info.Mode().IsRegular() || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOEXEC):
		return err
	}
	line, isScript := strings.CutPrefix(firstLine(path), "#!")
	interpreter, _, _ := strings.Cut(strings.TrimLeft(line, " \t"), " ")
	switch {
	case strings.HasSuffix(line, "\r"):
		return fmt.Errorf("%w: the lines of the script end as on Windows (CRLF); LF alone is needed, as dos2unix writes it", err)
	case isScript:
		return fmt.Errorf("%w: the interpreter in its first line, %s, is missing", err, brief.Quote(interpreter))
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: the dynamic loader that it was linked for is missing", err)
	}
	return fmt.Errorf("%w: it is no program for this system, nor a script whose first line names an interpreter, such as #!/bin/sh", err)
}

// inDir returns a path as the program sees it.
func (t task) inDir(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(t.Dir, path)
}

// firstLine returns the beginning of a file, up to the end of its first line.
func firstLine(path string) string {
	const most = 256 // what Linux reads of it
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }() // it was only read
	line, _ := bufio.NewReader(io.LimitReader(file, most)).ReadString('\n')
	return strings.TrimSuffix(line, "\n")
}
