package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// tickTime is the unit of times in /proc, which Linux shows to programs as 1/100 s on every
// machine.
const tickTime = 10 * time.Millisecond

// ownCPU is the time, of user and system, that this process has used.
func ownCPU() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, fmt.Errorf("CPU time: %w", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}

// cpuWithChildren is the time that a process and its children have used.
func cpuWithChildren(pid int) (time.Duration, error) {
	folders, err := os.ReadDir("/proc")
	if err != nil {
		return 0, err
	}
	var total time.Duration
	for _, f := range folders {
		id, err := strconv.Atoi(f.Name())
		if err != nil {
			continue
		}
		text, err := os.ReadFile("/proc/" + f.Name() + "/stat")
		if err != nil {
			continue // it has ended
		}
		parent, used, err := parseStat(text)
		if err != nil {
			return 0, err
		}
		if id == pid || parent == pid {
			total += used
		}
	}
	return total, nil
}

// parseStat reads the parent and the CPU time of a process from /proc/…/stat.
func parseStat(text []byte) (parent int, used time.Duration, err error) {
	// The second field is the name, in parentheses; it may have spaces and parentheses.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 13 {
		return 0, 0, fmt.Errorf("/proc/…/stat: %d fields after the name, at least 13 are needed", len(fields))
	}
	var n [3]int64
	for i, at := range []int{1, 11, 12} {
		if n[i], err = strconv.ParseInt(fields[at], 10, 64); err != nil {
			return 0, 0, fmt.Errorf("/proc/…/stat: %w", err)
		}
	}
	return int(n[0]), time.Duration(n[1]+n[2]) * tickTime, nil
}

// machineCPU is the time that all CPUs together have been at work.
func machineCPU() (time.Duration, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	return parseMachine(string(text))
}

// parseMachine adds up user, nice, system, irq and softirq, and leaves out idle and the
// waiting for disks.
func parseMachine(text string) (time.Duration, error) {
	line, _, _ := strings.Cut(text, "\n")
	fields := strings.Fields(line)
	if len(fields) < 8 || fields[0] != "cpu" {
		return 0, fmt.Errorf("/proc/stat: the first line is %q", line)
	}
	var total time.Duration
	for _, at := range []int{1, 2, 3, 6, 7} {
		n, err := strconv.ParseInt(fields[at], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("/proc/stat: %w", err)
		}
		total += time.Duration(n) * tickTime
	}
	return total, nil
}

// loadAverage is that of the last minute.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}

// Memory is what a process holds.
type Memory struct {
	RSS        int64 // bytes, without files and shared memory
	Heap       int64 // bytes that live
	Stack      int64 // bytes of goroutines' stacks
	Goroutines int
}

// ownMemory reads what this process holds. The garbage is collected after RSS is read.
func ownMemory() (Memory, error) {
	rss, err := ownRSS()
	if err != nil {
		return Memory{}, err
	}
	m := Memory{RSS: rss, Goroutines: runtime.NumGoroutine()}
	runtime.GC()
	runtime.GC() // what the first one has only finalized
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	m.Heap, m.Stack = int64(s.HeapAlloc), int64(s.StackInuse)
	return m, nil
}

func ownRSS() (int64, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "RssAnon:" {
			n, err := strconv.ParseInt(fields[1], 10, 64)
			return n << 10, err
		}
	}
	return 0, fmt.Errorf("/proc/self/status: no RssAnon")
}
