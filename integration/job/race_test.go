//go:build race

package job_test

// raced is whether the race detector watches.
const raced = true
