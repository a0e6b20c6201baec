package email

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/mail"
	"net/textproto"
	"strconv"
	"time"

	gomail "github.com/wneessen/go-mail"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/alert"
	"github.com/elasticjob-go/elasticjob/job/allow"
	"github.com/elasticjob-go/elasticjob/job/property"
)

// Name is ElasticJob's name for [Type].
const Name = "EMAIL"

// Type returns the type of error handlers that send mail.
func Type(o alert.Options) job.ErrorHandlerType { return alert.NewType(kind(), o) }

const (
	propHost     = "email.host"
	propPort     = "email.port"
	propUsername = "email.username"
	propPassword = "email.password"
	propUseSSL   = "email.useSsl"
	propStartTLS = "email.starttls"
	propTrust    = "email.ssl.trust"
	propTLS      = "email.tls"
	propSubject  = "email.subject"
	propFrom     = "email.from"
	propTo       = "email.to"
	propCC       = "email.cc"
	propBCC      = "email.bcc"
	propTimeout  = "email.timeoutMilliseconds"
	propDebug    = "email.debug"
)

func kind() alert.Kind {
	return alert.Kind{
		Name: Name,
		Table: property.Table{
			Own: []string{"email."},
			Rows: []property.Row{
				{Name: propHost, Required: true, Check: hostName(), Meaning: "the mail server"},
				{Name: propPort, Required: true, Check: property.Integer(1, 65535), Meaning: "its port"},
				{Name: propUsername, Check: property.Length(255), Meaning: "the user; needs email.password"},
				{Name: propPassword, Secret: true, Check: property.Length(4096), Meaning: "the password; needs email.username"},
				{Name: propUseSSL, Default: "true", Check: property.Boolean(), Meaning: "whether the connection begins with TLS"},
				{Name: propStartTLS, Default: "required", Check: property.OneOf("required", "off"), Meaning: "without email.useSsl, whether it changes to TLS, or stays in clear text"},
				{Name: propTrust, Check: hostNames(), Meaning: "further names that the certificate may be for"},
				{Name: propTLS, Check: property.Length(255), Meaning: "the name of a configuration in Options.TLS"},
				{Name: propSubject, Default: "ElasticJob error message", Check: oneLine(), Meaning: "the subject"},
				{Name: propFrom, Required: true, Check: addresses(1), Meaning: "the address of the sender"},
				{Name: propTo, Required: true, Check: addresses(maxAddresses), Meaning: "who gets the mail"},
				{Name: propCC, Check: addresses(maxAddresses), Meaning: "addresses that get a copy"},
				{Name: propBCC, Check: addresses(maxAddresses), Meaning: "addresses that get a copy, which the others do not see"},
				{Name: propTimeout, Default: "30000", Check: property.Integer(1, 300_000), Meaning: "bounds the time to send one mail"},
				{Name: propDebug, Default: "false", Check: property.Boolean(), Meaning: "whether the dialogue with the server goes to the log, at level debug"},
			},
		},
		Sender: newSender,
	}
}

// sender sends mail. Each mail has a connection of its own: there are few of them.
type sender struct {
	host               string
	port               int
	username, password string // password has references
	implicitTLS        bool
	startTLS           bool
	tls                *tls.Config
	subject            string
	from               []*mail.Address
	to, cc, bcc        []*mail.Address
	timeout            time.Duration
	allow              *allow.List
	lookup             property.Lookup
	debug              *slog.Logger // nil without email.debug
}

func newSender(v property.Values, o alert.Options, log *slog.Logger) (alert.Sender, error) {
	named, err := alert.TLSByName(v, o, propTLS)
	if err != nil {
		return nil, err
	}
	s := &sender{
		host: v.Text(propHost), port: v.Integer(propPort),
		username: v.Text(propUsername), password: v.Text(propPassword),
		implicitTLS: v.Boolean(propUseSSL), startTLS: v.Text(propStartTLS) == "required",
		subject: v.Text(propSubject), timeout: v.Milliseconds(propTimeout), allow: o.Allow, lookup: o.Lookup,
		from: addressesOf(v, propFrom), to: addressesOf(v, propTo), cc: addressesOf(v, propCC), bcc: addressesOf(v, propBCC),
	}
	if err := s.allow.Destination(s.host, strconv.Itoa(s.port)); err != nil {
		return nil, fault(propHost, err)
	}
	s.tls = tlsConfig(named, s.host, v.List(propTrust))
	switch {
	case s.username == "" && s.password != "":
		return nil, fault(propUsername, errors.New("is required with "+propPassword))
	case s.username != "" && s.password == "":
		return nil, fault(propPassword, errors.New("is required with "+propUsername))
	case s.password != "" && !s.implicitTLS && !s.startTLS:
		return nil, fault(propStartTLS, errors.New("off: the password would go in clear text, so required is allowed"))
	}
	if v.Boolean(propDebug) {
		s.debug = log
	}
	return s, nil
}

func fault(name string, err error) error {
	return &job.FieldError{Field: "props: " + name, Err: err}
}

// Send sends a mail.
func (s *sender) Send(ctx context.Context, m alert.Message) error {
	secrets := property.NewSecrets(s.lookup)
	password, err := secrets.Expand(s.password)
	if err != nil {
		return fmt.Errorf("the password: %w", err)
	}
	msg, err := s.mail(m)
	if err != nil {
		return alert.Permanent(err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.timeout, errors.New("the mail server takes too long"))
	defer cancel()
	err = s.dialogue(ctx, msg, password)
	if err == nil || msg.IsDelivered() { // what failed after that is no matter
		return nil
	}
	text := secrets.Hide(err.Error())
	if ctx.Err() != nil {
		text = context.Cause(ctx).Error()
	}
	if isFinal(err) {
		return alert.Permanent(errors.New(text))
	}
	return errors.New(text)
}

// dialogue sends a mail over a connection, which ends with ctx.
func (s *sender) dialogue(ctx context.Context, msg *gomail.Msg, password string) error {
	end := func() {}
	defer func() { end() }()
	options := []gomail.Option{
		gomail.WithPort(s.port), gomail.WithTimeout(s.timeout), gomail.WithTLSConfig(s.tls),
		gomail.WithDialContextFunc(func(dialing context.Context, network, _ string) (net.Conn, error) {
			conn, err := s.allow.Dial(dialing, net.Dialer{}, network, net.JoinHostPort(s.host, strconv.Itoa(s.port)))
			if err != nil {
				return nil, err
			}
			// The client looks at ctx only until it is connected, and closes not all that it opens.
			stop := context.AfterFunc(ctx, func() { _ = conn.Close() }) // who reads or writes gets the error
			end = func() {
				stop()
				_ = conn.Close() // nothing is to be read or written any more
			}
			if !s.implicitTLS {
				return conn, nil
			}
			encrypted := tls.Client(conn, s.tls)
			return encrypted, encrypted.HandshakeContext(dialing)
		}),
	}
	switch {
	case s.implicitTLS:
		// It is encrypted when the client gets it; with this policy the client finds that out.
		options = append(options, gomail.WithTLSPolicy(gomail.TLSOpportunistic))
	case s.startTLS:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	default:
		options = append(options, gomail.WithTLSPolicy(gomail.NoTLS))
	}
	if s.username != "" {
		options = append(options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(s.username), gomail.WithPassword(password))
	}
	if s.debug != nil {
		options = append(options, gomail.WithLogger(dialogueLog{s.debug}), gomail.WithDebugLog())
	}
	client, err := gomail.NewClient(s.host, options...)
	if err != nil {
		return alert.Permanent(err)
	}
	connected, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return err
	}
	err = client.SendWithSMTPClient(connected, msg)
	return errors.Join(err, client.CloseWithSMTPClient(connected))
}

// mail writes a message as a mail.
func (s *sender) mail(m alert.Message) (*gomail.Msg, error) {
	html, err := htmlOf(m)
	if err != nil {
		return nil, err
	}
	msg := gomail.NewMsg()
	msg.FromMailAddress(s.from[0])
	msg.ToMailAddress(s.to...)
	if len(s.cc) > 0 {
		msg.CcMailAddress(s.cc...)
	}
	if len(s.bcc) > 0 {
		msg.BccMailAddress(s.bcc...)
	}
	msg.Subject(s.subject)
	msg.SetDate()
	msg.SetMessageID()
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // no out-of-office answers
	msg.SetBodyString(gomail.TypeTextPlain, m.Text())
	msg.AddAlternativeString(gomail.TypeTextHTML, html)
	return msg, nil
}

// isFinal reports whether another attempt would fail, too.
func isFinal(err error) bool {
	if e, ok := errors.AsType[*gomail.SendError](err); ok && e.ErrorCode() != 0 {
		return !e.IsTemp()
	}
	if e, ok := errors.AsType[*textproto.Error](err); ok {
		return e.Code >= 500
	}
	_, badCertificate := errors.AsType[*tls.CertificateVerificationError](err)
	return badCertificate || errors.Is(err, allow.ErrNotAllowed)
}
