package job

import (
	"context"
	"errors"
)

// ErrNoCursor: there is no cursor here, because the context is not that of an execution, or
// because MonitorExecution is off and so there is no claim that would protect it.
var ErrNoCursor = errors.New("job: no cursor")

// MaxCursor bounds the text of a cursor, in bytes.
const MaxCursor = 16 << 10

// Cursor returns where the item's last execution has left off, as it gave it to [MoveCursor];
// empty if none did.
func Cursor(ctx context.Context) (string, error) {
	return "", ErrNoCursor
}

// MoveCursor keeps in the registry how far the item has come.
func MoveCursor(ctx context.Context, to string) error {
	return ErrNoCursor
}
