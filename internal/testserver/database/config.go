package database

import "fmt"

// Kind says which server.
type Kind int

// The servers.
const (
	MariaDB Kind = iota + 1
	PostgreSQL
)

// String returns its name.
func (k Kind) String() string {
	switch k {
	case MariaDB:
		return "MariaDB"
	case PostgreSQL:
		return "PostgreSQL"
	}
	return fmt.Sprintf("Kind(%d)", int(k))
}

// Config of a server. Its zero value, with a Kind, is small and fast.
type Config struct {
	Kind Kind
	// Durable makes commits wait for the disk, as servers in production do.
	Durable bool
	// Disk, unless it is 0, is the size in bytes of a file system of its own that the data
	// are on, in memory, so that a test can fill it. Needs root. Either server needs 100 MiB.
	Disk int64
	// Settings are more of the server's, such as "max_connections" or "shared_buffers". They
	// win over those that this package makes.
	Settings map[string]string
}

// Users and their passwords. The user of a database may do everything in it, and no more; the
// administrator may do what the server lets anybody do.
const (
	tester, testersPassword = "tester", "of-the-tester"
	admin, adminsPassword   = "chief", "of-the-chief"
)
