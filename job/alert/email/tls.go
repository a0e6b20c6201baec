package email

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
)

// tlsConfig returns the configuration for a server. trust are further names that its
// certificate may be for.
func tlsConfig(named *tls.Config, host string, trust []string) *tls.Config {
	conf := &tls.Config{MinVersion: tls.VersionTLS12}
	if named != nil {
		conf = named.Clone()
	}
	if conf.ServerName == "" {
		conf.ServerName = host
	}
	if len(trust) == 0 || conf.InsecureSkipVerify {
		return conf
	}
	names := append([]string{conf.ServerName}, trust...)
	before, roots := conf.VerifyConnection, conf.RootCAs
	// The check of one name gives way to a check of several.
	conf.InsecureSkipVerify = true
	conf.VerifyConnection = func(state tls.ConnectionState) error {
		if err := verify(state, roots, names); err != nil {
			return err
		}
		if before != nil {
			return before(state)
		}
		return nil
	}
	return conf
}

// verify checks the certificate of a connection for any of the names.
func verify(state tls.ConnectionState, roots *x509.CertPool, names []string) error {
	options := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
	for _, c := range state.PeerCertificates[1:] {
		options.Intermediates.AddCert(c)
	}
	var failed error
	for _, options.DNSName = range names {
		_, err := state.PeerCertificates[0].Verify(options)
		if err == nil {
			return nil
		}
		failed = errors.Join(failed, err)
	}
	return &tls.CertificateVerificationError{UnverifiedCertificates: state.PeerCertificates, Err: failed}
}
