package target_test

import (
	"testing"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/target"
)

// A place says where settings lead, and nothing of a secret.
func TestPlace(t *testing.T) {
	for want, tc := range map[string]struct {
		settings target.Settings
		context  string
	}{
		"store etcd://h:2379, namespace shop":                                      {target.Settings{Store: "etcd://h/shop"}, ""},
		"context dev, store etcd://anna@h:2379,i:2379, namespace shop/jobs":        {target.Settings{Store: "etcd://h,i/shop/jobs", User: "anna", Password: "hunter2"}, "dev"},
		"context prod (production), store zookeeper+tls://h:2181, namespace other": {target.Settings{Store: "zookeeper://h:2181/shop", Namespace: "other", CACert: "/no/such/file", Production: true}, "prod"},
		"context prod (production), store etcd+tls://ben@h:2379, namespace shop":   {target.Settings{Store: "etcd+tls://ben@h/shop", PasswordFile: "/no/such/file", Production: true}, "prod"},
		"context dev, store etcd+tls://h:2379, namespace \u65e5\u672c":             {target.Settings{Store: "etcd://h/\u65e5\u672c", ServerName: "x"}, "dev"},
	} {
		if p, err := tc.settings.Place(tc.context); err != nil || p.String() != want {
			t.Errorf("%v, %v; want %s", p, err, want)
		}
	}
	if _, err := (target.Settings{Store: "etcd://h"}).Place("dev"); err == nil {
		t.Error("no namespace")
	}
}

// --yes answers for any namespace but that of a production context, and --yes=NAMESPACE for that one alone.
func TestYes(t *testing.T) {
	shop := target.Place{Namespace: "shop"}
	prod := target.Place{Namespace: "shop", Production: true}
	for _, tc := range []struct {
		flag             string
		place            target.Place
		settled, refused bool
	}{
		{"", shop, false, false},
		{"", prod, false, false},
		{"false", prod, false, false},
		{"true", shop, true, false},
		{"true", prod, false, true},
		{"shop", shop, true, false},
		{"shop", prod, true, false},
		{"Shop", prod, false, true},
		{"other", shop, false, true},
		{"other", prod, false, true},
		{"true", target.Place{}, true, false},
		{"other", target.Place{}, false, true},
		{"true", target.Place{Namespace: "true", Production: true}, false, true},
	} {
		var y target.Yes
		if tc.flag != "" {
			if err := y.Set(tc.flag); err != nil {
				t.Error(err)
			}
		}
		if got, err := y.Settle(tc.place); got != tc.settled || (err != nil) != tc.refused {
			t.Errorf("--yes=%s in %+v: %v, %v", tc.flag, tc.place, got, err)
		}
	}
	if err := new(target.Yes).Set(""); err == nil {
		t.Error("--yes= is taken, as a script has it whose variable is not set")
	}
	for answer, want := range map[string][2]bool{"y": {true, false}, "YES": {true, false}, "": {}, "shop": {false, true}, "no": {}} {
		if got := [2]bool{shop.Accepts(answer), prod.Accepts(answer)}; got != want {
			t.Errorf("%q: %v", answer, got)
		}
	}
}
