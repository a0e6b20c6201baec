package etcdmember

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"go.etcd.io/etcd/server/v3/embed"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/httpx"
)

// Options say which member it is, and where. An error of theirs names the flag.
type Options struct {
	// Data is the folder with what the member keeps.
	Data string
	// Members are all of them: NAME=URL,… with the URLs by which they reach each other. Empty is this one alone.
	Members string
	// Name says which of Members this is; it may be left out if there is one.
	Name string
	// Listen is the host:port for clients.
	Listen string
	// Join is for a member that was added to others that run.
	Join bool
	// Cert, Key and CACert are files: the member's certificate, and the authority of members and clients.
	Cert, Key, CACert string
	// Insecure allows addresses without TLS that others reach.
	Insecure bool
}

// alone is the only member. Nobody connects to its URL, which is listened to at another port.
const alone = "etcd=http://127.0.0.1:2380"

// quota bounds the database, in bytes. An execution takes some 400 of them, for the hour that history is kept: a thousand
// in a second take a third of it.
const quota = 4 << 30

// member is one of Options.Members.
type member struct {
	name string
	url  url.URL
}

func (m member) host() string { return m.url.Hostname() }

// members returns all members, and which of them this is.
func (o Options) members() (all []member, own member, err error) {
	texts := strings.Split(cmp.Or(o.Members, alone), ",")
	switch len(texts) {
	case 1, 3:
	case 2:
		return nil, own, errors.New("--members has 2: allowed are 1 and 3, because of two both would have to run")
	default:
		return nil, own, fmt.Errorf("--members has %d: allowed are 1 and 3; run etcd itself for more", len(texts))
	}
	for i, text := range texts {
		name, address, _ := strings.Cut(text, "=")
		u, err := url.Parse(address)
		if err != nil || name == "" || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || !isPort(u.Port()) || *u != (url.URL{Scheme: u.Scheme, Host: u.Host}) {
			return nil, own, fmt.Errorf("--members: %s: allowed is NAME=https://HOST:PORT", brief.Quote(text))
		}
		m := member{name, *u}
		if i > 0 && u.Scheme != all[0].url.Scheme {
			return nil, own, fmt.Errorf("--members: %s has the scheme %s, and %s has %s: allowed is the same for all", name, u.Scheme, all[0].name, all[0].url.Scheme)
		}
		if slices.ContainsFunc(all, func(other member) bool { return other.name == m.name || other.url == m.url }) {
			return nil, own, fmt.Errorf("--members: %s has the name or the address of another member", brief.Quote(text))
		}
		all = append(all, m)
	}
	i := slices.IndexFunc(all, func(m member) bool { return m.name == o.Name || o.Name == "" && len(all) == 1 })
	if i < 0 {
		var names []string
		for _, m := range all {
			names = append(names, m.name)
		}
		return nil, own, fmt.Errorf("--name is %s: allowed are the names of --members: %s", brief.Quote(o.Name), strings.Join(names, ", "))
	}
	return all, all[i], nil
}

func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0
}

// cluster returns members as etcd wants them.
func cluster(all []member) string {
	var list []string
	for _, m := range all {
		list = append(list, m.name+"="+m.url.String())
	}
	return strings.Join(list, ",")
}

// config checks the options, and returns what they mean to etcd.
func (o Options) config() (*embed.Config, error) {
	if o.Data == "" {
		return nil, errors.New("--data is missing: the folder with what the member keeps")
	}
	all, own, err := o.members()
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(o.Listen)
	if err != nil || host != "localhost" && net.ParseIP(host) == nil || !isPort(port) { // etcd takes no names
		return nil, fmt.Errorf("--listen is %s: allowed is IP:PORT, such as 127.0.0.1:2379 or 0.0.0.0:2379", brief.Quote(o.Listen))
	}
	if err := o.checkTLS(host, all, own); err != nil {
		return nil, err
	}
	if len(all) > 1 && httpx.IsLoopback(host) && !httpx.IsLoopback(own.host()) {
		return nil, fmt.Errorf("--listen %s is for this host alone, and others have to reach %s: listen on an address of theirs, such as 0.0.0.0:%s", o.Listen, own.url.Host, port)
	}
	c := embed.NewConfig()
	c.Name, c.Dir, c.QuotaBackendBytes = own.name, o.Data, quota
	c.InitialCluster, c.AdvertisePeerUrls = cluster(all), []url.URL{own.url}
	if o.Join {
		c.ClusterState = embed.ClusterStateFlagExisting
	}
	peers := url.URL{Scheme: own.url.Scheme, Host: net.JoinHostPort(host, own.url.Port())}
	clients := url.URL{Scheme: "http", Host: o.Listen}
	reached := own.host()
	if o.Members == "" {
		peers.Host, reached = "127.0.0.1:0", host
	}
	if o.Cert != "" {
		clients.Scheme = "https"
		c.ClientTLSInfo.CertFile, c.ClientTLSInfo.KeyFile = o.Cert, o.Key
		c.ClientTLSInfo.TrustedCAFile, c.ClientTLSInfo.ClientCertAuth = o.CACert, o.CACert != ""
	}
	if peers.Scheme == "https" {
		c.PeerTLSInfo = c.ClientTLSInfo
		for _, m := range all { // so that a client with a certificate of the same authority is no member
			c.PeerTLSInfo.AllowedHostnames = append(c.PeerTLSInfo.AllowedHostnames, m.host())
		}
	}
	c.ListenPeerUrls, c.ListenClientUrls = []url.URL{peers}, []url.URL{clients}
	if ip := net.ParseIP(reached); ip != nil && ip.IsUnspecified() {
		if reached, err = os.Hostname(); err != nil {
			return nil, err
		}
	}
	c.AdvertiseClientUrls = []url.URL{{Scheme: clients.Scheme, Host: net.JoinHostPort(reached, port)}}
	return c, nil
}

// checkTLS refuses what would be sent in the clear, and certificates that the other members would refuse.
func (o Options) checkTLS(host string, all []member, own member) error {
	isSecure := own.url.Scheme == "https"
	switch {
	case (o.Cert == "") != (o.Key == ""):
		return errors.New("--tls-cert and --tls-key: one of them is missing")
	case o.CACert != "" && o.Cert == "":
		return errors.New("--tls-cacert asks for certificates: give --tls-cert and --tls-key, too")
	case isSecure && o.CACert == "":
		return errors.New("--members have https, by which they prove who they are: give --tls-cert, --tls-key and --tls-cacert")
	case !o.Insecure && o.Cert == "" && !httpx.IsLoopback(host):
		return fmt.Errorf("--listen %s can be reached from elsewhere, and without TLS anybody reads and writes there: give --tls-cert, --tls-key and --tls-cacert, or --insecure-http if the network keeps others out", o.Listen)
	}
	for _, m := range all {
		if !isSecure && !o.Insecure && !httpx.IsLoopback(m.host()) {
			return fmt.Errorf("--members: %s is reached without TLS at %s: allowed is https, or --insecure-http if the network keeps others out", m.name, m.url.Host)
		}
	}
	if o.Cert == "" {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(o.Cert, o.Key)
	if err != nil {
		return fmt.Errorf("--tls-cert %s, --tls-key %s: %w", o.Cert, o.Key, err)
	}
	if o.CACert == "" {
		return nil
	}
	pem, err := os.ReadFile(o.CACert)
	if err != nil {
		return fmt.Errorf("--tls-cacert: %w", err)
	}
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return fmt.Errorf("--tls-cacert: %s has no certificate in a PEM block", o.CACert)
	}
	if !isSecure {
		return nil
	}
	for _, der := range pair.Certificate[1:] {
		c, err := x509.ParseCertificate(der)
		if err != nil {
			return fmt.Errorf("--tls-cert %s: %w", o.Cert, err)
		}
		between.AddCert(c)
	}
	for _, as := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} { // a member is both to the others
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{DNSName: own.host(), Roots: roots, Intermediates: between, KeyUsages: []x509.ExtKeyUsage{as}}); err != nil {
			return fmt.Errorf("--tls-cert %s: the other members will refuse it for %s, as server or as client: %w", o.Cert, own.name, err)
		}
	}
	return nil
}
