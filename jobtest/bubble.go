package jobtest

import "testing/synctest"

// inBubble reports whether the caller runs in a bubble of testing/synctest. It returns when all
// other goroutines of the bubble wait.
func inBubble() (in bool) {
	defer func() { in = recover() == nil }() // Wait panics outside of a bubble, and there is no other way to ask
	synctest.Wait()
	return
}
