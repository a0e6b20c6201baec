// Package consolefile reads the file of elasticjob console --config.
package consolefile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/elasticjob-go/elasticjob/console"
	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/access/oidc"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/console/sink"
	"github.com/elasticjob-go/elasticjob/internal/bounded"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/job/property"
	"github.com/elasticjob-go/elasticjob/ops/doctor"
)

// File is the file of --config. Texts may have references, ${env:NAME} and ${file:/path}; secrets must
// have one. An unknown key is a mistake.
type File struct {
	// Hosts are the names of the console, without port, if it is to answer to no others.
	Hosts []Setting `yaml:"hosts"`
	// Origins are those of pages, beside its own, that may change something: https://host.
	Origins []Setting `yaml:"origins"`
	// OpenMetrics lets anybody read /metrics.
	OpenMetrics bool `yaml:"openMetrics"`
	// TimeZone is that of times without one in the routes of ElasticJob's consoles. Default that of the process.
	TimeZone Setting `yaml:"timeZone"`
	// Sessions say how long somebody stays logged in: idle 30m, absolute 12h.
	Sessions struct {
		Idle     time.Duration `yaml:"idle"`
		Absolute time.Duration `yaml:"absolute"`
	} `yaml:"sessions"`
	// Limits bound requests.
	Limits console.Limits `yaml:"limits"`
	// Findings say from when on something is a finding.
	Findings doctor.Thresholds `yaml:"findings"`
	// Connections say what is allowed in entries that are added while the console runs.
	Connections struct {
		// Keys encrypt passwords in the file of --connections: one a line, the first encrypts.
		Keys Secret `yaml:"keys"`
		// Variables of the environment, and folders with files, to which entries may refer.
		Variables []Setting `yaml:"variables"`
		Folders   []Setting `yaml:"folders"`
	} `yaml:"connections"`
	// Proxy is one that is trusted to say who is logged in, and where from.
	Proxy struct {
		From   []Setting            `yaml:"from"`
		User   Setting              `yaml:"user"`
		Groups Setting              `yaml:"groups"`
		Grants map[string][]Setting `yaml:"grants"`
	} `yaml:"proxy"`
	// Sinks are where log-ins and changes are sent, too.
	Sinks sink.Config `yaml:"sinks"`
	// OIDC is a provider of OpenID Connect.
	OIDC *OIDC `yaml:"oidc"`
}

// OIDC is a provider of OpenID Connect.
type OIDC struct {
	Issuer       Setting              `yaml:"issuer"`
	ClientID     Setting              `yaml:"clientID"`
	ClientSecret Secret               `yaml:"clientSecret"`
	RedirectURL  Setting              `yaml:"redirectURL"`
	Scopes       []Setting            `yaml:"scopes"`
	NameClaim    Setting              `yaml:"nameClaim"`
	GroupsClaim  Setting              `yaml:"groupsClaim"`
	Groups       map[string][]Setting `yaml:"groups"`
	LogoutURL    Setting              `yaml:"logoutURL"`
}

// Setting is a text that may have references.
type Setting string

// UnmarshalYAML is for yaml.
func (t *Setting) UnmarshalYAML(n *yaml.Node) error {
	var raw string
	if err := n.Decode(&raw); err != nil {
		return err
	}
	value, err := property.Expand(raw, property.FromProcess())
	if err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	*t = Setting(value)
	return nil
}

// Secret is a text that must be by reference: nobody should find it in the file.
type Secret string

// UnmarshalYAML is for yaml. No error has the value.
func (s *Secret) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode || !property.HasReference(n.Value) {
		return fmt.Errorf("line %d: a secret has to be a reference, ${env:NAME} or ${file:/path}", n.Line)
	}
	var t Setting
	if err := t.UnmarshalYAML(n); err != nil {
		return err
	}
	*s = Secret(strings.TrimRight(string(t), "\r\n"))
	return nil
}

// maxFile bounds the file of --config, in bytes.
const maxFile = 1 << 20

// Read reads the file of --config; an empty path has nothing to say.
func Read(path string) (*File, error) {
	f := &File{}
	if path == "" {
		return f, nil
	}
	open, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	defer func() { _ = open.Close() }() // it was only read
	document, err := bounded.Read(open, maxFile)
	if err != nil {
		return nil, fmt.Errorf("--config: %s: %w", path, err)
	}
	d := yaml.NewDecoder(bytes.NewReader(document))
	d.KnownFields(true)
	if err := d.Decode(f); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("--config: %s: %w", path, brief.Error(err))
	}
	if err := f.Limits.Validate(); err != nil {
		return nil, fmt.Errorf("--config: %s: limits: %w", path, err)
	}
	if err := f.Findings.Validate(); err != nil {
		return nil, fmt.Errorf("--config: %s: findings: %w", path, err)
	}
	return f, nil
}

// Grants are what members of groups may do.
func Grants(field string, of map[string][]Setting) (map[string][]access.Grant, error) {
	all := map[string][]access.Grant{}
	for _, group := range slices.Sorted(maps.Keys(of)) {
		for _, one := range of[group] {
			g, err := access.ParseGrant(string(one))
			if err != nil {
				return nil, fmt.Errorf("--config: %s.%s: %w", field, group, err)
			}
			all[group] = append(all[group], g)
		}
	}
	return all, nil
}

// TrustedProxy returns which proxies are trusted.
func (f *File) TrustedProxy() (access.Proxy, error) {
	p := access.Proxy{User: string(f.Proxy.User), Groups: string(f.Proxy.Groups)}
	for _, from := range f.Proxy.From {
		prefix, err := netip.ParsePrefix(string(from))
		if one, not := netip.ParseAddr(string(from)); not == nil {
			prefix, err = netip.PrefixFrom(one, one.BitLen()), nil
		}
		if err != nil {
			return p, fmt.Errorf("--config: proxy.from: %s: allowed are addresses, and networks such as 10.0.0.0/8", brief.Quote(string(from)))
		}
		p.From = append(p.From, prefix)
	}
	var err error
	p.Grants, err = Grants("proxy.grants", f.Proxy.Grants)
	return p, err
}

// Zone returns the time zone.
func (f *File) Zone() (*time.Location, error) {
	zone, err := time.LoadLocation(cmp.Or(string(f.TimeZone), "Local"))
	if err != nil {
		return nil, fmt.Errorf("--config: timeZone: %w", err)
	}
	return zone, nil
}

// Keys returns those of the file with connections; nil if there are none.
func (f *File) Keys() (*connection.Keys, error) {
	if f.Connections.Keys == "" {
		return nil, nil
	}
	keys, err := connection.ParseKeys(string(f.Connections.Keys))
	if err != nil {
		return nil, fmt.Errorf("--config: connections.keys: %w", err)
	}
	return keys, nil
}

// Open returns the provider, whose log-ins begin sessions.
func (o *OIDC) Open(sessions oidc.Sessions, log *slog.Logger) (*oidc.Login, error) {
	groups, err := Grants("oidc.groups", o.Groups)
	if err != nil {
		return nil, err
	}
	provider, err := oidc.New(oidc.Options{
		Issuer: string(o.Issuer), ClientID: string(o.ClientID), ClientSecret: string(o.ClientSecret), RedirectURL: string(o.RedirectURL),
		Scopes: Plain(o.Scopes), NameClaim: string(o.NameClaim), GroupsClaim: string(o.GroupsClaim), Groups: groups,
		LogoutURL: string(o.LogoutURL), Sessions: sessions, Slog: log,
	})
	if err != nil {
		return nil, fmt.Errorf("--config: oidc: %w", err)
	}
	return provider, nil
}

// Plain returns the texts of settings.
func Plain(list []Setting) []string {
	var all []string
	for _, t := range list {
		all = append(all, string(t))
	}
	return all
}
