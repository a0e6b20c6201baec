package email_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"github.com/elasticjob-go/elasticjob/job/alert"
)

// postOffice is a mail server that keeps what it gets.
type postOffice struct {
	port  int
	mails chan letter
	// reply answers a mail, by its number; nil takes it.
	reply func(n int) error
	// login is whether a mail needs user and password.
	login bool

	count    int  // of mails
	started  bool // the handler is made; env:NONE is gone then
	attempts int  // to log in
	roots    *x509.CertPool
}

type letter struct {
	from string
	to   []string
	data []byte
	user string
	tls  bool
}

// The ways to connect.
const (
	implicitTLS = "implicit TLS"
	startTLS    = "STARTTLS"
	clearText   = "clear text"
)

// newPostOffice begins a server, whose certificate is for 127.0.0.1 and example.com.
func newPostOffice(t *testing.T, way string) *postOffice {
	certified := httptest.NewUnstartedServer(nil)
	certified.StartTLS()
	defer certified.Close()
	p := &postOffice{mails: make(chan letter, 100), roots: x509.NewCertPool()}
	p.roots.AddCert(certified.Certificate())
	conf := &tls.Config{Certificates: certified.TLS.Certificates}

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.port = l.Addr().(*net.TCPAddr).Port
	s := smtp.NewServer(p)
	s.Domain = "localhost"
	s.ErrorLog = log.New(io.Discard, "", 0) // handshakes that fail, as they are to
	switch way {
	case implicitTLS:
		l = tls.NewListener(l, conf)
	case startTLS:
		s.TLSConfig = conf
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		_ = s.Close() // nothing is read or written any more
		if err := <-served; err != nil && !errors.Is(err, smtp.ErrServerClosed) {
			t.Error(err)
		}
	})
	return p
}

// options trust the server under the name "test", and know a password.
func (p *postOffice) options() alert.Options {
	return alert.Options{
		TLS:  map[string]*tls.Config{"test": {RootCAs: p.roots}},
		Host: "host-1",
		Lookup: func(name string) (string, bool, error) {
			switch name {
			case "env:PASSWORD":
				p.attempts++
				return "s3cret-password", true, nil
			case "env:WRONG":
				p.attempts++
				return "wr0ng-password", true, nil
			}
			if name == "env:NONE" && !p.started {
				return "there for now", true, nil
			}
			return "", true, errors.New("there is none")
		},
	}
}

// props send to the server.
func (p *postOffice) props(pairs ...string) map[string]string {
	props := map[string]string{
		"email.host": "127.0.0.1", "email.port": strconv.Itoa(p.port), "email.tls": "test",
		"email.from": "Jobs <jobs@example.com>", "email.to": "ops@example.com, Dev <dev@example.com>", "alert.attempts": "1",
	}
	for i := 0; i < len(pairs); i += 2 {
		props[pairs[i]] = pairs[i+1]
	}
	return props
}

func (p *postOffice) NewSession(c *smtp.Conn) (smtp.Session, error) {
	_, isTLS := c.TLSConnectionState()
	return &session{office: p, letter: letter{tls: isTLS}}, nil
}

type session struct {
	office *postOffice
	letter letter
}

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != "jobs" || password != "s3cret-password" {
			return &smtp.SMTPError{Code: 535, Message: "bad user or password " + password}
		}
		s.letter.user = user
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	if s.office.login && s.letter.user == "" {
		return smtp.ErrAuthRequired
	}
	s.letter.from = from
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.letter.to = append(s.letter.to, to)
	return nil
}

func (s *session) Data(r io.Reader) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.office.count++
	if s.office.reply != nil {
		if err := s.office.reply(s.office.count); err != nil {
			return err
		}
	}
	s.letter.data = data
	s.office.mails <- s.letter
	return nil
}

func (s *session) Reset()        { s.letter.to = nil }
func (s *session) Logout() error { return nil }
