package zk

import (
	"crypto/tls"
	"errors"
	"net"
	"slices"
)

// connectAnswers records how servers have answered a client that has no session yet.
type connectAnswers struct {
	asked  map[string]bool // the servers that were tried
	denied []error         // the denials
	denial error           // the reason, once all servers have been tried and none accepts
}

// failed records why an attempt to connect failed. A denial counts also if the next attempt with that
// server fails for another reason.
func (a *connectAnswers) failed(server string, err error) {
	if a.asked == nil {
		a.asked = make(map[string]bool)
	}
	a.asked[server] = true
	if isDenial(err) {
		a.denied = append(a.denied, err)
	}
}

// allDeny reports whether all servers were tried, and those that answered denied. If one had
// accepted, there would be a session.
func (a *connectAnswers) allDeny(servers []string) bool {
	return len(a.denied) > 0 && len(a.asked) == len(servers)
}

// certificateAlerts are the TLS alerts by which a server says that it does not accept the
// client's certificate, or that it requires one.
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

// isDenial reports whether one side does not trust the other's certificate. The server says so by a
// TLS alert, in the handshake or, since TLS 1.3, instead of its first answer.
func isDenial(err error) bool {
	if _, untrusted := errors.AsType[*tls.CertificateVerificationError](err); untrusted {
		return true
	}
	remote, ok := errors.AsType[*net.OpError](err)
	return ok && remote.Op == "remote error" &&
		slices.ContainsFunc(certificateAlerts[:], func(alert tls.AlertError) bool { return remote.Err.Error() == alert.Error() })
}
