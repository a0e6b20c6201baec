package database

import (
	"maps"
	"os/exec"
	"slices"
	"syscall"
)

// product is what differs between the servers.
type product interface {
	// prepare returns what makes the data folder of s, and runs before the first start.
	prepare(s *Server) ([]*exec.Cmd, error)
	serve(s *Server) *exec.Cmd
	// ready is the line of the log that says that it serves.
	ready() string
	// taken is the line of the log that says that another process has the port.
	taken() string
	// query runs statements as the administrator.
	query(s *Server, database, statements string) *exec.Cmd
	// create are the statements that make a database.
	create(name string) []string
	dsn(user, password, addr, name string) string
	// stop ends the server in an orderly way, with clients that are connected; quit at once,
	// and leaves nothing in the kernel.
	stop() syscall.Signal
	quit() string
}

// settings returns the flags for the server's settings, those of base and those of more, which
// win.
func settings(prefix string, base, more map[string]string) []string {
	all := maps.Clone(base)
	maps.Copy(all, more)
	var flags []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		flags = append(flags, prefix+name+"="+all[name])
	}
	return flags
}
