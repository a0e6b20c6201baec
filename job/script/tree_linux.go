package script

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// process is one of the processes of a program.
type process struct {
	pid, parent, group int
	state              string // one letter
	started            string // with pid it names one process for ever
}

// descendants returns the processes that this one has started, and what these have started,
// but for those that have ended. A process whose parent ends at this moment may be missing.
func descendants() []process {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = proc.Close() }() // it was only read
	names, _ := proc.Readdirnames(-1)   // what was read before an error is of use
	children := map[int][]process{}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, ok := look(pid); ok {
			children[p.parent] = append(children[p.parent], p)
		}
	}
	all := children[os.Getpid()]
	for next := 0; next < len(all); next++ {
		all = append(all, children[all[next].pid]...)
	}
	living := all[:0]
	for _, p := range all {
		if p.state != "Z" && p.state != "X" {
			living = append(living, p)
		}
	}
	return living
}

// look reads what the kernel says of a process.
func look(pid int) (process, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	// pid (name) state parent …; a name may have spaces and parentheses.
	_, after, _ := strings.Cut(string(text[max(0, strings.LastIndexByte(string(text), ')')):]), " ")
	fields := strings.Fields(after)
	if len(fields) < 20 {
		return process{}, false
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return process{}, false
	}
	group, err := strconv.Atoi(fields[2])
	return process{pid: pid, parent: parent, group: group, state: fields[0], started: fields[19]}, err == nil
}

// signal sends a signal to this process, and never to another one that has got its id.
func (p process) signal(s syscall.Signal) {
	handle, err := os.FindProcess(p.pid) // holds the process where the kernel can (pidfd)
	if err != nil {
		return
	}
	defer func() { _ = handle.Release() }() // it only gives the handle up
	if now, ok := look(p.pid); ok && now.started == p.started {
		_ = handle.Signal(s) // it may have ended; or be out of reach, which shows at the end
	}
}

// kill kills this process, and all others of its group. Processes that each start the next
// one and end are faster than anyone who looks for them. But the kernel lets no fork slip
// through a signal to a group, so it is enough to have seen one of them: the group's id is
// not given away as long as the group has a member, and then only when all others have been.
//
// The program began a session of its own, so its groups are no others' groups.
func (p process) kill() {
	p.signal(syscall.SIGKILL)
	if p.group > 1 && p.group != syscall.Getpgrp() {
		_ = syscall.Kill(-p.group, syscall.SIGKILL) // that none is left is what is wanted
	}
}

func pidsOf(all []process) (pids []int) {
	for _, p := range all {
		pids = append(pids, p.pid)
	}
	return pids
}
