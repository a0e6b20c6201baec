package zkserver

import (
	"fmt"
	"io"
	"os/exec"
	"syscall"
)

// reaper is the shell that cleans up. It reads the ids of processes from a pipe, one a line.
// When the pipe ends, because this process has closed it or has ended, it kills them and
// removes the folder.
type reaper struct {
	cmd  *exec.Cmd
	pipe io.WriteCloser
}

// reap checks that the command line of a process names the folder, because its id may belong
// to another process by then. It tries the removal again, because a process that is being
// killed may still write.
const reap = `
while read -r pid; do pids="$pids $pid"; done
for pid in $pids; do
	case "$(tr '\0' ' ' <"/proc/$pid/cmdline")" in *"$0"*) kill -9 "$pid";; esac
done 2>/dev/null
for attempt in 1 2 3 4 5; do
	rm -rf "$0" && exit
	sleep 0.1
done`

func startReaper(folder string) (*reaper, error) {
	cmd := exec.Command("/bin/sh", "-c", reap, folder)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // signals to our group do not reach it
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("pipe to the reaper: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the reaper: %w", err)
	}
	return &reaper{cmd: cmd, pipe: pipe}, nil
}

func (r *reaper) adopt(pid int) error {
	if _, err := fmt.Fprintln(r.pipe, pid); err != nil {
		return fmt.Errorf("tell the reaper of process %d: %w", pid, err)
	}
	return nil
}

// finish makes the shell clean up, and waits for it.
func (r *reaper) finish() error {
	_ = r.pipe.Close() // fails only if it is closed
	if err := r.cmd.Wait(); err != nil {
		return fmt.Errorf("remove what a server left: %w", err)
	}
	return nil
}
