package jobtree_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/internal/jobconf"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

func TestNodeDocument(t *testing.T) {
	long := strings.Repeat("x", 20_000)
	for value, want := range map[string]jobtree.NodeDocument{
		"{}":                                     {},
		"items: 3\n":                             {Items: 3},
		"items: 3\nmaxItems: 9\naddress: a\n":    {Items: 3, Address: "a"},
		"offers: [x, {y: z}]\nitems: 1\nsince: ": {Items: 1, Offers: []string{"x"}},
		"offers: x\nlabels: [a, null]\nmoreOffers: 2":                                 {Labels: []string{"a"}, MoreOffers: 2},
		"described: [{type: x, name: y, required: true, later: z}]\nmoreDescribed: 2": {Described: []jobconf.Property{{Type: "x", Name: "y", Required: true}}, MoreDescribed: 2},
	} {
		if got, err := jobtree.DecodeNode([]byte(value)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v, want %+v", value, got, err, want)
		}
	}
	for _, value := range []string{
		"", "[1]", "text", "\x00\xff", "items: -1", "items: x", "items: [1]", "items: 1.5", "items: 1000000001",
		"address: [a]", "address: " + strings.Repeat("a", 256), "items: " + strings.Repeat("9", 10_000), "# " + long, "moreOffers: -1", "moreLabels: x", "items: 1\nitems: 2", "described: x", "described: [x]", "described: [{secret: x}]", strings.Repeat("[", 10_000),
	} {
		got, err := jobtree.DecodeNode([]byte(value))
		if err == nil || !reflect.DeepEqual(got, jobtree.NodeDocument{}) || len(err.Error()) > 700 {
			t.Errorf("%.50q: %+v, %v", value, got, err)
		}
	}
	names := rapid.SliceOfN(rapid.StringN(-1, -1, 1000), 0, 20)
	text := rapid.StringN(-1, -1, 200)
	properties := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) jobconf.Property {
		return jobconf.Property{
			Type: rapid.StringN(1, -1, 500).Draw(t, "type"), Name: text.Draw(t, "name"), Required: rapid.Bool().Draw(t, "required"), Secret: rapid.Bool().Draw(t, "secret"),
			Default: text.Draw(t, "default"), Allowed: text.Draw(t, "allowed"), Meaning: text.Draw(t, "meaning"),
		}
	}), 0, 20)
	rapid.Check(t, func(t *rapid.T) {
		want := jobtree.NodeDocument{
			Items:   rapid.IntRange(0, 1_000_000_000).Draw(t, "items"),
			Address: rapid.StringN(-1, -1, 255).Draw(t, "address"),
			Offers:  names.Draw(t, "offers"), Labels: names.Draw(t, "labels"), Described: properties.Draw(t, "described"),
		}
		value := jobtree.EncodeNode(want)
		got, err := jobtree.DecodeNode(value)
		if err != nil || len(value) > 15<<10 {
			t.Fatalf("%d bytes: %v", len(value), err)
		}
		if len(got.Offers)+got.MoreOffers != len(want.Offers) || len(got.Labels)+got.MoreLabels != len(want.Labels) || len(got.Described)+got.MoreDescribed != len(want.Described) {
			t.Fatalf("%+v is read as %+v", want, got)
		}
		want.Offers, want.Labels = want.Offers[:len(got.Offers)], want.Labels[:len(got.Labels)]
		want.Described = want.Described[:len(got.Described)]
		want.MoreOffers, want.MoreLabels, want.MoreDescribed = got.MoreOffers, got.MoreLabels, got.MoreDescribed
		if !slices.Equal(got.Offers, want.Offers) || !slices.Equal(got.Labels, want.Labels) || !slices.Equal(got.Described, want.Described) {
			t.Fatalf("%+v is read as %+v", want, got)
		}
		want.Offers, want.Labels, want.Described = got.Offers, got.Labels, got.Described // nil or empty
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v is read as %+v", want, got)
		}
	})
}
