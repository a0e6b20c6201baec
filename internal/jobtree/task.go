package jobtree

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// TaskID returns the id of the execution that a claim has begun. It follows from what the tree
// says of the claim: the instance in running, the token, which is Modified of fired, and the
// tick that fired has for it. So whoever finds that record after a crash knows the id, although
// no node has it.
//
// It is a UUID of version 8: 48 bits of the tick, in milliseconds since 1970, and then a hash. So
// ids sort by the tick. Two are the same only if a session's name and a token come twice.
func TaskID(job Job, item int, instance string, token int64, run time.Time) string {
	b := make([]byte, 0, 512)
	b = append(append(b, job...), 0)
	b = append(append(b, instance...), 0)
	b = strconv.AppendInt(append(strconv.AppendInt(b, int64(item), 10), 0), token, 10)
	id := sha256.Sum256(b)
	var at [8]byte
	binary.BigEndian.PutUint64(at[:], uint64(max(run.UnixMilli(), 0)))
	copy(id[:6], at[2:])
	id[6] = id[6]&0x0f | 0x80 // the version
	id[8] = id[8]&0x3f | 0x80 // the variant of RFC 9562
	text := make([]byte, 0, 36)
	for n, part := range [][]byte{id[:4], id[4:6], id[6:8], id[8:10], id[10:16]} {
		if n > 0 {
			text = append(text, '-')
		}
		text = hex.AppendEncode(text, part)
	}
	return string(text)
}

// isTaskID reports whether a text from the tree may be the id of an execution.
func isTaskID(text string) bool {
	return text != "" && len(text) <= maxName && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '-'
	})
}
