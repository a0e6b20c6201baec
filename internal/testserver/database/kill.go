package database

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// killAll kills a process and those it has started, and returns when none of them can do
// anything any more. PostgreSQL has one for each connection. It would outlive the process
// that listens, and commit what it is at, and no server starts on its data meanwhile.
func killAll(pid int) error {
	// A process that is stopped starts no other one.
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	if err := awaitState(pid, "TZ"); err != nil {
		return err
	}
	all := append(childrenOf(pid), pid)
	for _, each := range all {
		if err := syscall.Kill(each, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	for _, each := range all {
		if err := awaitState(each, "Z"); err != nil {
			return err
		}
	}
	return nil
}

// childrenOf returns the processes that a process has started.
func childrenOf(pid int) []int {
	list, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid)) // missing if it has ended
	var children []int
	for field := range strings.FieldsSeq(string(list)) {
		if n, err := strconv.Atoi(field); err == nil {
			children = append(children, n)
		}
	}
	return children
}

// awaitState waits until a process is in one of the states, by their letters in Linux's
// /proc, or is gone.
func awaitState(pid int, states string) error {
	again := time.NewTicker(time.Millisecond) // the process may be that of another parent
	defer again.Stop()
	late := time.NewTimer(stopTimeout)
	defer late.Stop()
	for {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return nil // it is gone
		}
		// Behind its name, which may contain anything.
		_, rest, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " ")
		if rest != "" && strings.Contains(states, rest[:1]) {
			return nil
		}
		select {
		case <-again.C:
		case <-late.C:
			return fmt.Errorf("process %d is in state %.1s after %v", pid, rest, stopTimeout)
		}
	}
}
