package oidc

import (
	"maps"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/access"
)

type noSessions struct{}

func (noSessions) Begin(http.ResponseWriter, *http.Request, string, []access.Grant) error { return nil }

func (noSessions) Address(*http.Request) netip.Addr { return netip.Addr{} }

func (noSessions) Refused(*http.Request, string, string) {}

func TestOptions(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Options)
		want   string // in the error; empty if there is none
	}{
		"good": {func(*Options) {}, ""},
		"loopback": {func(o *Options) {
			o.Issuer, o.RedirectURL = "http://127.0.0.1:5556/dex", "http://localhost:8899"+CallbackPath
		}, ""},
		"IPv6 loopback":      {func(o *Options) { o.Issuer = "http://[::1]:5556" }, ""},
		"public client":      {func(o *Options) { o.ClientSecret = "" }, ""},
		"no issuer":          {func(o *Options) { o.Issuer = "" }, "Issuer: it is no absolute URL"},
		"issuer in clear":    {func(o *Options) { o.Issuer = "http://provider.example" }, "Issuer: it is not https"},
		"like loopback":      {func(o *Options) { o.Issuer = "http://localhost.example" }, "Issuer: it is not https"},
		"issuer with secret": {func(o *Options) { o.Issuer = "https://a:planted@b" }, "Issuer: it is no absolute URL"},
		"issuer with query":  {func(o *Options) { o.Issuer = "https://b?planted" }, "Issuer: it is no absolute URL"},
		"no client":          {func(o *Options) { o.ClientID = "" }, "ClientID: it is missing"},
		"redirect in clear":  {func(o *Options) { o.RedirectURL = "http://console.example" + CallbackPath }, "RedirectURL: it is not https"},
		"redirect elsewhere": {func(o *Options) { o.RedirectURL = "https://console.example/callback" }, "RedirectURL: it does not end with " + CallbackPath},
		"logout in clear":    {func(o *Options) { o.LogoutURL = "http://console.example/" }, "LogoutURL: it is not https"},
		"no groups":          {func(o *Options) { o.Groups = nil }, "Groups: nobody could log in"},
		"bad grant":          {func(o *Options) { o.Groups["ops"] = []access.Grant{{}} }, `Groups: "ops"[0]: role 0`},
		"no sessions":        {func(o *Options) { o.Sessions = nil }, "Sessions: it is missing"},
	} {
		o := Options{
			Issuer: "https://provider.example", ClientID: "c", ClientSecret: "planted", Sessions: noSessions{},
			RedirectURL: "https://console.example" + CallbackPath, Groups: maps.Clone(map[string][]access.Grant{"ops": {{Role: access.Viewer}}}),
		}
		tt.change(&o)
		l, err := New(o)
		if l != nil {
			l.Close()
		}
		if (tt.want == "") != (err == nil) || err != nil && (!strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "planted")) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}
