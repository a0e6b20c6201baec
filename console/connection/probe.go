package connection

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// Reason says why a test has failed.
type Reason string

// The reasons.
const (
	Unreachable Reason = "unreachable" // nobody answers, or not in time
	Refused     Reason = "refused"     // user and password
	Untrusted   Reason = "tls"         // one side does not trust the other's certificate, or does not speak TLS
	Invalid     Reason = "invalid"     // something that no server is asked about, or that it does not have
	Denied      Reason = "denied"      // the user may not read there
	Unsupported Reason = "unsupported" // the version of the server
)

// TestError says why a test has failed.
type TestError struct {
	Reason Reason
	Err    error
}

func (e *TestError) Error() string { return string(e.Reason) + ": " + e.Err.Error() }
func (e *TestError) Unwrap() error { return e.Err }

const (
	testTime  = 5 * time.Second
	leaveTime = 2 * time.Second
	maxTests  = 8 // at a time
)

// TestNamespace connects to a namespace, reads what is in it, and closes the connection, all in some 5 s. On
// ZooKeeper that makes the namespace, if there is none. A password that is [Kept] is that of the entry
// with the same name, if it would be sent to the same place; a fixed namespace of that name is tested as
// the program has given it. What n may refer to is bounded as for [Book.PutNamespace].
//
// Errors: *TestError, also with one or several *EntryError in it; the cause of ctx.
func (b *Book) TestNamespace(ctx context.Context, n Namespace) error {
	connect, err := b.tested(n)
	if err != nil {
		return fmt.Errorf("namespace %s: %w", brief.Quote(n.Name), &TestError{Invalid, err})
	}
	err = b.inTime(ctx, func(ctx context.Context) error {
		reg, err := connect(ctx)
		if err != nil {
			return failed(err, Refused)
		}
		_, err = reg.List(ctx, "")
		leave, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
		defer cancel()
		_ = reg.Close(leave) // the test is over
		if err != nil {
			return failed(err, Denied)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("namespace %s: %w", brief.Quote(n.Name), err)
	}
	return nil
}

// tested returns what connects to a namespace that is tested.
func (b *Book) tested(n Namespace) (dial, error) {
	if s := b.namespace(n.Name); s != nil && s.isGiven() {
		if s.dial == nil {
			return nil, errors.New("the program has connected to it; only it knows how")
		}
		return s.dial, nil
	}
	if err := missing("Dial", b.o.Dial == nil); err != nil {
		return nil, err
	}
	b.mu.Lock()
	old, ok := b.document.Namespaces[n.Name]
	b.mu.Unlock()
	var kept *entry[Namespace]
	if ok {
		kept = &old
	}
	secret, err := admit(b, n, kept)
	if err != nil {
		return nil, err
	}
	return b.dialer(n, secret), nil
}

// TestDatabase logs in to a database, and closes the connection, in some 5 s. Otherwise it is as
// [Book.TestNamespace].
func (b *Book) TestDatabase(ctx context.Context, d Database) error {
	open, err := b.testedDatabase(d)
	if err != nil {
		return fmt.Errorf("database %s: %w", brief.Quote(d.Name), &TestError{Invalid, err})
	}
	err = b.inTime(ctx, func(ctx context.Context) error {
		h, secret, err := open()
		if err != nil {
			return &TestError{Invalid, hide(err, secret)}
		}
		err = h.Ping(ctx)
		_ = h.Close() // the test is over
		if err != nil {
			reason := reasonOf(err, Refused)
			return &TestError{reason, hide(err, secret)}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("database %s: %w", brief.Quote(d.Name), err)
	}
	return nil
}

func (b *Book) testedDatabase(d Database) (func() (History, string, error), error) {
	if p := b.database(d.Name); p != nil && p.isGiven() {
		return p.open, nil
	}
	if err := missing("OpenHistory", b.o.OpenHistory == nil); err != nil {
		return nil, err
	}
	b.mu.Lock()
	old, ok := b.document.Databases[d.Name]
	b.mu.Unlock()
	var kept *entry[Database]
	if ok {
		kept = &old
	}
	secret, err := admit(b, d, kept)
	if err != nil {
		return nil, err
	}
	return b.opener(d, secret), nil
}

// inTime runs a test, when few others run, and with its own limit.
func (b *Book) inTime(ctx context.Context, test func(context.Context) error) error {
	select {
	case b.test <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("%d tests are running: %w", maxTests, context.Cause(ctx))
	}
	defer func() { <-b.test }()
	inTime, cancel := context.WithTimeoutCause(ctx, testTime, fmt.Errorf("%w: no answer in %v", coord.ErrUnavailable, testTime))
	defer cancel()
	err := test(inTime)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// failed returns a TestError.
func failed(err error, denied Reason) error { return &TestError{reasonOf(err, denied), err} }

// reasonOf returns why a test has failed: what the error says, or what it is; denied is for a denial.
func reasonOf(err error, denied Reason) Reason {
	var known *TestError
	switch {
	case errors.As(err, &known):
		return known.Reason
	case isUntrusted(err):
		return Untrusted
	case errors.Is(err, coord.ErrDenied) && strings.Contains(err.Error(), "permission denied"): // etcd has a text for it
		return Denied
	case errors.Is(err, coord.ErrDenied):
		return denied
	case errors.Is(err, errPassword), errors.Is(err, coord.ErrInvalidConfig), errors.Is(err, coord.ErrInvalidPath):
		return Invalid
	case errors.Is(err, coord.ErrUnsupported):
		return Unsupported
	}
	return Unreachable
}

// isUntrusted reports whether the TLS handshake has failed. gRPC keeps only the text of such an error.
func isUntrusted(err error) bool {
	var certificate *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var record tls.RecordHeaderError
	if errors.As(err, &certificate) || errors.As(err, &unknown) || errors.As(err, &record) {
		return true
	}
	text := err.Error()
	return strings.Contains(text, "x509: ") || strings.Contains(text, "tls: ")
}
