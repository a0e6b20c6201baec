package child

import (
	"fmt"
	"io"
	"os/exec"
	"syscall"
)

// Reaper is a shell that cleans up. It reads the ids of processes from a pipe, one a line.
// When the pipe ends, because this process has closed it or has ended, it kills them and
// removes the folder.
type Reaper struct {
	cmd  *exec.Cmd
	pipe io.WriteCloser
}

// reap checks that the command line of a process names the folder, because its id may belong
// to another process by then. It tries the removal again, for half a minute, because what a process
// has started may still write, and a busy machine takes long to end one. A file system may be mounted
// in the folder.
const reap = `
folder=$0 signal=$1
left() {
	for pid in $pids; do
		case "$(tr '\0' ' ' <"/proc/$pid/cmdline")" in *"$folder"*) echo "$pid";; esac
	done 2>/dev/null
}
while read -r pid; do pids="$pids $pid"; done
for pid in $(left); do kill -"$signal" "$pid"; done
attempt=0
while [ $((attempt += 1)) -le 600 ]; do
	if [ -z "$(left)" ]; then
		while read -r _ mount _; do
			case $mount in "$folder"*) umount "$mount";; esac
		done </proc/mounts
		rm -rf "$folder" && exit
	fi
	sleep 0.05
	[ $attempt -ge 10 ] && for pid in $(left); do kill -KILL "$pid"; done
done 2>/dev/null
exit 1`

// StartReaper watches over a folder. signal, such as KILL, is what ends the processes at
// once; those that are left after half a second are killed.
func StartReaper(folder, signal string) (*Reaper, error) {
	cmd := exec.Command("/bin/sh", "-c", reap, folder, signal)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // signals to our group do not reach it
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("pipe to the reaper: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the reaper: %w", err)
	}
	return &Reaper{cmd: cmd, pipe: pipe}, nil
}

// Adopt gives it a process whose command line names the folder.
func (r *Reaper) Adopt(pid int) error {
	if _, err := fmt.Fprintln(r.pipe, pid); err != nil {
		return fmt.Errorf("tell the reaper of process %d: %w", pid, err)
	}
	return nil
}

// Finish makes the shell clean up, and waits for it.
func (r *Reaper) Finish() error {
	_ = r.pipe.Close() // fails only if it is closed
	if err := r.cmd.Wait(); err != nil {
		return fmt.Errorf("remove what a server left: %w", err)
	}
	return nil
}
