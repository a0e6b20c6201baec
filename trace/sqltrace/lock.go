package sqltrace

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// lock names what one process does at a time. On PostgreSQL it is the key of an advisory lock.
type lock int64

const (
	lockMigrate lock = 0x656c6a6f62_0001 + iota // "eljob"
	lockRetain
)

// errLocked says that another process has a lock.
var errLocked = errors.New("another process does it")

// withNamedLock runs do with a lock of MySQL, which belongs to the connection.
func withNamedLock(ctx context.Context, conn *sql.Conn, l lock, patience time.Duration, do func() error) error {
	// Names are those of the whole server, and have 64 characters at most.
	name := fmt.Sprintf("CONCAT('elasticjob.%x.', LEFT(MD5(DATABASE()), 16))", int64(l))
	var got sql.NullInt64
	query := fmt.Sprintf("SELECT GET_LOCK(%s, %d)", name, int(patience/time.Second))
	if err := conn.QueryRowContext(ctx, query).Scan(&got); err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	if got.Int64 != 1 {
		return errLocked
	}
	defer func() {
		ended, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		var released sql.NullInt64
		if err := conn.QueryRowContext(ended, "SELECT RELEASE_LOCK("+name+")").Scan(&released); err != nil {
			discard(conn) // the lock ends with it
		}
	}()
	return do()
}
