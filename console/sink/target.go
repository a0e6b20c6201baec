package sink

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/httpx"
	"github.com/elasticjob-go/elasticjob/job/property"
)

// Config says which sinks there are: none without it. Texts may have references, ${env:NAME} and ${file:/path}.
type Config struct {
	// Stdout is for whatever collects what the process prints, as in Kubernetes.
	Stdout bool `yaml:"stdout"`
	// File is the path of a file to append to. It is opened for each line, so another program may rotate it.
	File string `yaml:"file"`
	// Syslog is local, or a server: udp://host:514, tcp://host:514.
	Syslog string `yaml:"syslog"`
	// Webhook gets each line by a POST.
	Webhook Webhook `yaml:"webhook"`
}

// Webhook is a server that takes lines.
type Webhook struct {
	// URL begins with https://, or with http:// on this machine.
	URL string `yaml:"url"`
	// Token is sent as a bearer token. It has to be a reference, and is looked up for each line.
	Token string `yaml:"token"`
	// CA is the path of a file with the authorities that are trusted, if not those of the system.
	CA string `yaml:"ca"`
}

// targets returns the sinks by their names.
func (c Config) targets(out io.Writer) (map[string]target, error) {
	all := map[string]target{}
	for _, one := range []struct {
		name, text string
		open       func(string) (target, error)
	}{
		{"file", c.File, openFile}, {"syslog", c.Syslog, openSyslog}, {"webhook", c.Webhook.URL, c.Webhook.open},
	} {
		if one.text == "" {
			continue
		}
		text, err := property.Expand(one.text, property.FromProcess())
		if err == nil {
			all[one.name], err = one.open(text)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", one.name, err)
		}
	}
	if c.Webhook.URL == "" && c.Webhook != (Webhook{}) {
		return nil, errors.New("webhook: url is missing")
	}
	if c.Stdout {
		all["stdout"] = stdout{out}
	}
	return all, nil
}

type stdout struct{ io.Writer }

func (s stdout) send(_ context.Context, line []byte) error {
	_, err := s.Write(line)
	return err
}

func (stdout) close() error { return nil }

type file string

// openFile makes sure that a file can be written.
func openFile(path string) (target, error) {
	return file(path), file(path).send(context.Background(), nil)
}

func (f file) send(_ context.Context, line []byte) error {
	open, err := os.OpenFile(string(f), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = open.Write(line)
	return errors.Join(err, open.Close())
}

func (file) close() error { return nil }

// sendTime bounds one request to a webhook.
const sendTime = 10 * time.Second

type webhook struct {
	url, token string // the token is a reference
	by         *http.Transport
}

func (w Webhook) open(to string) (target, error) {
	u, err := url.Parse(to)
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !httpx.IsLoopback(u.Hostname())) {
		return nil, errors.New("url: allowed are https://…, and http://… on a loopback address") // the URL may be secret
	}
	if w.Token != "" && !property.HasReference(w.Token) {
		return nil, errors.New("token: a secret has to be a reference, ${env:NAME} or ${file:/path}")
	}
	made := &webhook{url: to, token: w.Token, by: &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: sendTime, IdleConnTimeout: time.Minute, TLSClientConfig: &tls.Config{},
	}}
	if _, err := made.bearer(); err != nil {
		return nil, fmt.Errorf("token: %w", err)
	}
	if w.CA == "" {
		return made, nil
	}
	path, err := property.Expand(w.CA, property.FromProcess())
	var pem []byte
	if err == nil {
		pem, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("ca: %w", err)
	}
	made.by.TLSClientConfig.RootCAs = x509.NewCertPool()
	if !made.by.TLSClientConfig.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("ca: %s has no certificates; allowed is PEM", brief.Quote(path))
	}
	return made, nil
}

// bearer looks the token up: it may be another one than before.
func (w *webhook) bearer() (string, error) {
	token, err := property.Expand(w.token, property.FromProcess())
	token = strings.TrimSpace(token)
	if err == nil && !httpx.IsHeaderValue(token) {
		err = errors.New("it has a line break, which no header may have")
	}
	return token, err
}

func (w *webhook) send(ctx context.Context, line []byte) error {
	ctx, cancel := context.WithTimeoutCause(ctx, sendTime, fmt.Errorf("no answer in %v", sendTime))
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(line))
	if err != nil {
		return httpx.WithoutURL(err)
	}
	token, err := w.bearer()
	if err != nil {
		return fmt.Errorf("token: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	const most = 4 << 10 // of the answer, so that the connection can be used again
	a, err := httpx.Exchange(w.by, r, most)
	if err == nil && a.Status/100 != 2 {
		err = fmt.Errorf("status %d; allowed are 200 to 299", a.Status)
	}
	return err
}

func (w *webhook) close() error {
	w.by.CloseIdleConnections()
	return nil
}
