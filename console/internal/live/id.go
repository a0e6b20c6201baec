package live

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// cursors writes places as the ids of events: enciphered with a key of the process, so that an id tells nobody
// how much changes that he may not see, and cannot be made up. Beside the place it has a mark, which is that of the
// feed and of what the listener may see.
type cursors struct{ block cipher.Block }

func newCursors() (cursors, error) {
	var key [16]byte
	if _, err := rand.Read(key[:]); err != nil {
		return cursors{}, fmt.Errorf("live: a key for ids: %w", err)
	}
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return cursors{}, fmt.Errorf("live: a key for ids: %w", err)
	}
	return cursors{block}, nil
}

// append appends the id of a place.
func (c cursors) append(text []byte, place, mark uint64) []byte {
	var id [aes.BlockSize]byte
	binary.BigEndian.PutUint64(id[:], place)
	binary.BigEndian.PutUint64(id[8:], mark)
	c.block.Encrypt(id[:], id[:])
	return hex.AppendEncode(text, id[:])
}

// place returns the place of an id; 0 if it is no id, or has another mark.
func (c cursors) place(text string, mark uint64) uint64 {
	var id [aes.BlockSize]byte
	if len(text) != hex.EncodedLen(len(id)) {
		return 0
	}
	if _, err := hex.Decode(id[:], []byte(text)); err != nil {
		return 0
	}
	c.block.Decrypt(id[:], id[:])
	if binary.BigEndian.Uint64(id[8:]) != mark {
		return 0
	}
	return binary.BigEndian.Uint64(id[:])
}
