//go:build !unix

package connection

import "os"

// tryLock locks nothing: here one process alone may change a file.
func tryLock(*os.File) (bool, error) { return true, nil }
