package jobtree

import (
	"errors"
	"time"
	"unicode/utf8"
)

// CursorDocument is the value of a cursor's node: how far an item has come.
type CursorDocument struct {
	// Position is the text that the handler has given.
	Position string `doc:"position"`
	// Token is the fencing token of the execution that has written it, and Number says how
	// many that execution had written before. The two name one write: after an unknown outcome
	// they tell whether it happened.
	Token  int64 `doc:"token"`
	Number int   `doc:"number"`
	// Moved is when, by the clock of the instance.
	Moved time.Time `doc:"moved"`
}

// cursors has room for any position: one byte of it takes up to six.
var cursors = newCodec[CursorDocument]("cursor", maxCursor, nil)

// EncodeCursor writes the value of a cursor's node.
func EncodeCursor(d CursorDocument) ([]byte, error) {
	if !utf8.ValidString(d.Position) {
		return nil, errors.New("cursor: position: UTF-8 is allowed")
	}
	return cursors.encodeBounded(d)
}

// DecodeCursor reads the value of a cursor's node.
func DecodeCursor(value []byte) (CursorDocument, error) { return cursors.decode(value) }
