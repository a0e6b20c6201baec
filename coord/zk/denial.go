package zk

import (
	"crypto/tls"
	"errors"
	"net"
)

// answers is what servers said to a client that wants its first session.
type answers struct {
	asked  map[string]bool
	denied []error // why, of those that did
	denial error   // set when that is final
}

// note takes down how an attempt to connect failed. A server that has denied may not get
// as far the next time, and has still denied.
func (a *answers) note(server string, err error) {
	if a.asked == nil {
		a.asked = make(map[string]bool)
	}
	a.asked[server] = true
	if isDenial(err) {
		a.denied = append(a.denied, err)
	}
}

// deny reports whether all servers were asked, and all that answered denied. One that
// accepts would have ended the question.
func (a *answers) deny(servers []string) bool {
	return len(a.denied) > 0 && len(a.asked) == len(servers)
}

// certificateAlerts are those of TLS by which a server tells that it does not accept the
// client's certificate, or wants one.
var certificateAlerts = [...]tls.AlertError{
	42,  // bad certificate
	43,  // unsupported certificate
	44,  // revoked
	45,  // expired
	46,  // unknown
	48,  // unknown authority
	49,  // access denied
	116, // certificate required
}

// isDenial reports whether one side does not trust the other's certificate. What the
// server says comes in the handshake, or, since TLS 1.3, in the place of its first answer.
func isDenial(err error) bool {
	var untrusted *tls.CertificateVerificationError
	if errors.As(err, &untrusted) {
		return true
	}
	var remote *net.OpError
	if !errors.As(err, &remote) || remote.Op != "remote error" {
		return false
	}
	for _, alert := range certificateAlerts {
		if remote.Err.Error() == alert.Error() {
			return true
		}
	}
	return false
}
