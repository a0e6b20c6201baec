// Package bounded reads what others have written, up to a bound.
package bounded

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Start reads at most so many bytes, and leaves the rest.
func Start(r io.Reader, most int64) ([]byte, error) { return io.ReadAll(io.LimitReader(r, most)) }

// Read reads everything. It is an error if that is more than so many bytes.
func Read(r io.Reader, most int64) ([]byte, error) {
	text, err := Start(r, most+1)
	if err == nil && int64(len(text)) > most {
		return nil, fmt.Errorf("more than %d bytes", most)
	}
	return text, err
}

// File reads a regular file of at most so many bytes. The errors are a *[fs.PathError].
func File(path string, most int64) ([]byte, os.FileInfo, error) {
	// To open a named pipe would wait for a writer otherwise, perhaps for ever.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	return Opened(file, most)
}

// Opened is File for a file that was opened, by its name; it closes it.
func Opened(file *os.File, most int64) ([]byte, os.FileInfo, error) {
	defer func() { _ = file.Close() }() // it was only read
	path := file.Name()
	info, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("it is no regular file")}
	}
	text, err := Read(file, most)
	if _, named := errors.AsType[*fs.PathError](err); err != nil && !named {
		err = &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return text, info, err
}
