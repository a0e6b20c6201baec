package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/elasticjob-go/elasticjob/job"
)

// table is where a worker notes what happens in it: memory that it shares with the process
// that started it. To note something takes no system call, and what was noted is there even
// if the worker is killed.
type table struct {
	data []byte
	used atomic.Int64 // of the writer

	seen int // of the reader: what was there when it looked last
}

// entry is one line of a table.
type entry struct {
	kind entryKind
	// Of a run; of a change only job.
	source    job.Source
	job, item int
	tick      time.Time
	// begun is when the handler was called, or when the change was seen. ended is when the
	// handler returned; zero before.
	begun, ended time.Time
	// items is how many the process has after a change.
	items int
}

type entryKind byte

const (
	aRun entryKind = iota + 1
	aChange
)

const entrySize = 40

// newTable makes a table and the file by which a worker opens it. The caller closes both.
func newTable(entries int) (*table, *os.File, error) {
	fd, err := unix.MemfdCreate("load", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, nil, fmt.Errorf("shared memory: %w", err)
	}
	file := os.NewFile(uintptr(fd), "load")
	err = file.Truncate(int64(entries) * entrySize)
	if err != nil {
		file.Close()
		return nil, nil, fmt.Errorf("shared memory: %w", err)
	}
	t, err := openTable(file)
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return t, file, nil
}

func openTable(file *os.File) (*table, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("shared memory: %w", err)
	}
	data, err := unix.Mmap(int(file.Fd()), 0, int(info.Size()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("shared memory: %w", err)
	}
	return &table{data: data}, nil
}

func (t *table) close() { _ = unix.Munmap(t.data) } // it fails only for memory that is not mapped

// add notes an entry, and returns its number. A full table takes no more; entries says so.
func (t *table) add(e entry) int {
	i := int(t.used.Add(1)) - 1
	b := t.line(i)
	if b == nil {
		return i
	}
	b[1] = byte(e.source)
	binary.NativeEndian.PutUint32(b[4:], uint32(e.job))
	binary.NativeEndian.PutUint32(b[8:], uint32(e.item))
	binary.NativeEndian.PutUint32(b[12:], uint32(e.items))
	putTime(b[16:], e.tick)
	putTime(b[24:], e.begun)
	b[0] = byte(e.kind) // last: the reader takes a line with a kind for whole
	return i
}

// end notes that the handler of a run has returned.
func (t *table) end(i int, at time.Time) {
	if b := t.line(i); b != nil {
		putTime(b[32:], at)
	}
}

func (t *table) line(i int) []byte {
	if i >= len(t.data)/entrySize {
		return nil
	}
	return t.data[i*entrySize : (i+1)*entrySize]
}

// count is about how many entries there are, while the worker still writes.
func (t *table) count() int {
	for b := t.line(t.seen); b != nil && b[0] != 0; b = t.line(t.seen) {
		t.seen++
	}
	return t.seen
}

// entries returns what a worker has noted that has ended.
func (t *table) entries() ([]entry, error) {
	var all []entry
	for i := 0; ; i++ {
		b := t.line(i)
		if b == nil {
			return nil, fmt.Errorf("more than %d runs and changes: the table is full", i-1)
		}
		if b[0] == 0 && binary.NativeEndian.Uint64(b[24:]) == 0 {
			// A worker that was killed may have left a gap of a few lines that it had begun.
			if !t.more(i) {
				return all, nil
			}
			continue
		}
		all = append(all, entry{
			kind: entryKind(b[0]), source: job.Source(b[1]),
			job: int(binary.NativeEndian.Uint32(b[4:])), item: int(binary.NativeEndian.Uint32(b[8:])),
			items: int(binary.NativeEndian.Uint32(b[12:])),
			tick:  timeAt(b[16:]), begun: timeAt(b[24:]), ended: timeAt(b[32:]),
		})
	}
}

// more reports whether there is an entry among the lines after a gap.
func (t *table) more(i int) bool {
	const gap = 256
	for j := i + 1; j < i+gap; j++ {
		if b := t.line(j); b != nil && b[0] != 0 {
			return true
		}
	}
	return false
}

func putTime(b []byte, t time.Time) {
	if !t.IsZero() {
		binary.NativeEndian.PutUint64(b, uint64(t.UnixNano()))
	}
}

func timeAt(b []byte) time.Time {
	n := binary.NativeEndian.Uint64(b)
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(n))
}
