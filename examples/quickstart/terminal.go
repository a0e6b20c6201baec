package main

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// terminalSize returns the size of the terminal that out is, or false if it is none that
// can be drawn on.
func terminalSize(out io.Writer) (width, height int, ok bool) {
	f, isFile := out.(*os.File)
	if !isFile || os.Getenv("TERM") == "dumb" {
		return 0, 0, false
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0, false
	}
	if size.Col == 0 || size.Row == 0 { // a serial line does not say
		return 80, 24, true
	}
	return int(size.Col), int(size.Row), true
}
