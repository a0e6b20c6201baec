package deploy

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// container runs the program of an image as an engine would: as process 1, with the image as root, which it cannot write
// to, as the user of the image, and without further rights.
type container struct {
	image   *image
	volumes []volume
	hosts   string // /etc/hosts
}

// volume is a folder of this host in a container.
type volume struct {
	Source, Target string
	ReadOnly       bool
}

// start is what the process that becomes the container is told.
type start struct {
	Root    string
	User    int
	Volumes []volume
	Args    []string
	Mapped  bool // root is the user who runs the test, in a user namespace
}

// startVariable has the start as JSON.
const startVariable = "ELASTICJOB_CONTAINER"

// command returns the command of a container: the entry point, and args.
func (c container) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	root := t.TempDir() // of its own: the mount points differ
	s := start{Root: root, Mapped: os.Getuid() != 0, User: c.image.user, Args: append(append([]string{}, c.image.entrypoint...), args...)}
	s.Volumes = append(s.Volumes, volume{Source: "/dev/null", Target: "/dev/null"})
	s.Volumes = append(s.Volumes, c.volumes...)
	hosts := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(hosts, []byte(c.hosts), 0o644); err != nil {
		t.Fatal(err)
	}
	s.Volumes = append(s.Volumes, volume{Source: hosts, Target: "/etc/hosts", ReadOnly: true})
	if err := linkTree(c.image.root, root); err != nil {
		t.Fatal(err)
	}
	for _, v := range s.Volumes {
		if err := mountPoint(v.Source, filepath.Join(root, v.Target)); err != nil {
			t.Fatal(err)
		}
	}
	told, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = []string{startVariable + "=" + string(told)}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	return cmd
}

// linkTree makes the tree of an image anew, with hard links to its files.
func linkTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		}
		return os.Link(path, filepath.Join(to, name))
	})
}

// mountPoint makes what a file or folder can be mounted on.
func mountPoint(source, target string) error {
	info, err := os.Stat(source)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.MkdirAll(target, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	return os.WriteFile(target, nil, 0o644)
}

// become makes this process, which has namespaces of its own, the program of a container.
func become(told string) error {
	runtime.LockOSThread() // some of what follows is an attribute of the thread
	var s start
	if err := json.Unmarshal([]byte(told), &s); err != nil {
		return err
	}
	if err := s.mount(); err != nil {
		return err
	}
	if err := syscall.Chroot(s.Root); err != nil {
		return fmt.Errorf("chroot: %w", err)
	}
	if err := syscall.Chdir("/"); err != nil {
		return err
	}
	return s.exec()
}

func (s start) mount() error {
	type mount struct {
		source, target, kind string
		flags                uintptr
		data                 string
	}
	root := mount{s.Root, s.Root, "", syscall.MS_BIND, ""}
	all := []mount{{"", "/", "", syscall.MS_REC | syscall.MS_PRIVATE, ""}, root,
		{"proc", s.Root + "/proc", "proc", syscall.MS_NOSUID | syscall.MS_NODEV | syscall.MS_NOEXEC, ""},
		{"tmpfs", s.Root + "/tmp", "tmpfs", syscall.MS_NOSUID | syscall.MS_NODEV | syscall.MS_NOEXEC, "mode=1777"},
	}
	for _, v := range s.Volumes {
		m := mount{v.Source, filepath.Join(s.Root, v.Target), "", syscall.MS_BIND, ""}
		all = append(all, m)
		if v.ReadOnly {
			m.flags |= syscall.MS_REMOUNT | syscall.MS_RDONLY
			all = append(all, m)
		}
	}
	root.flags |= syscall.MS_REMOUNT | syscall.MS_RDONLY
	for _, m := range append(all, root) {
		if err := syscall.Mount(m.source, m.target, m.kind, m.flags, m.data); err != nil {
			return fmt.Errorf("mount %s: %w", m.target, err)
		}
	}
	return nil
}

// exec gives up the rights of root, if this is root, and becomes the program.
func (s start) exec() error {
	if !s.Mapped { // otherwise there is one user only
		for _, drop := range []func() error{
			func() error { return syscall.Setgroups(nil) },
			func() error { return syscall.Setgid(s.User) },
			func() error { return syscall.Setuid(s.User) },
		} {
			if err := drop(); err != nil {
				return err
			}
		}
	}
	const noNewPrivileges = 38 // PR_SET_NO_NEW_PRIVS
	for option, value := range map[uintptr]uintptr{noNewPrivileges: 1, syscall.PR_SET_PDEATHSIG: uintptr(syscall.SIGKILL)} {
		if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, option, value, 0, 0, 0, 0); errno != 0 {
			return errno
		}
	}
	return syscall.Exec(s.Args[0], s.Args, []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/home/nonroot"})
}
