package jobtest

import (
	"testing"
	"time"
)

// lateTime is how long handlers have to return at the end of a test in a bubble, if they do not
// watch their contexts. One that needs longer is a deadlock there.
const lateTime = time.Hour

// inBubble reports whether t is the test of a bubble of testing/synctest. Cleanups of such a
// test run in the bubble, too.
func inBubble(t testing.TB) (in bool) {
	d, ok := t.(interface{ Deadline() (time.Time, bool) })
	if !ok {
		return false
	}
	defer func() { in = recover() != nil }()
	d.Deadline() // panics in a bubble, and there is no other way to ask that does not wait
	return false
}
