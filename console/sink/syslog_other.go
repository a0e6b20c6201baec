//go:build windows || plan9

package sink

import "errors"

func openSyslog(string) (target, error) {
	return nil, errors.New("there is none on this system; allowed are stdout, file and webhook")
}
