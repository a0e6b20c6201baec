package history

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
)

// Log appends events to a file, each with one write, so that what was written survives
// the death of the process. Its methods may be called from any goroutine.
type Log struct {
	process string
	mu      sync.Mutex
	file    *os.File
	mirror  io.Writer
	err     error
}

// Create opens the log of a process. If mirror is not nil, events are written to it too: it may
// be a pipe to a process that waits for them.
func Create(path, process string, mirror io.Writer) (*Log, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	return &Log{process: process, file: file, mirror: mirror}, nil
}

// Add writes one event. An event that names no process is about the log's own.
func (l *Log) Add(e Event) {
	if e.Process == "" {
		e.Process = l.process
	}
	line, err := json.Marshal(e)
	line = append(line, '\n')
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		_, err = l.file.Write(line)
	}
	if err == nil && l.mirror != nil {
		_, err = l.mirror.Write(line)
	}
	l.err = errors.Join(l.err, err)
}

// Close returns the first error that a write had, too.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := errors.Join(l.err, l.file.Close()); err != nil {
		return fmt.Errorf("history of %s: %w", l.process, err)
	}
	return nil
}

// Decode reads events line by line until r ends or yield returns false.
func Decode(r io.Reader, yield func(Event) bool) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for number := 1; lines.Scan(); number++ {
		var e Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		if !yield(e) {
			return nil
		}
	}
	return lines.Err()
}

// Read puts the logs of several processes together, in the order of time. A last line without its end was never written:
// SIGKILL ends a write between two pages of the file.
func Read(paths ...string) ([]Event, error) {
	var events []Event
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("history: %w", err)
		}
		whole := content[:bytes.LastIndexByte(content, '\n')+1]
		err = Decode(bytes.NewReader(whole), func(e Event) bool {
			events = append(events, e)
			return true
		})
		if err != nil {
			return nil, fmt.Errorf("history %s: %w", path, err)
		}
	}
	Sort(events)
	return events, nil
}

// Sort puts events in the order of time.
func Sort(events []Event) {
	slices.SortStableFunc(events, func(a, b Event) int { return cmp.Compare(a.Mono, b.Mono) })
}
