package jobtree_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

func readPin(value string) *jobtree.Pin {
	return jobtree.Read(tree(map[string]string{"settle/pins/3": value}), "settle").Pins[3]
}

func TestPinRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := jobtree.PinDocument{Strict: rapid.Bool().Draw(t, "strict"), By: rapid.StringN(-1, -1, 255).Draw(t, "by")}
		to := rapid.SampledFrom([]*string{&want.Instance, &want.Address, &want.Label}).Draw(t, "kind")
		*to = rapid.StringN(1, -1, jobtree.MaxPinName).Draw(t, "name")
		value := string(jobtree.EncodePin(want))
		got := readPin(value)
		if got.Err != nil || !cmp.Equal(got.PinDocument, want) {
			t.Fatalf("%q gives %+v, %v", value, got.PinDocument, got.Err)
		}
	})
}

func TestPinsThatPinNothing(t *testing.T) {
	for name, value := range map[string]string{
		"empty": "", "null": "label: ~\n", "nobody": "strict: true\n", "two": "label: gpu\naddress: 10.0.0.1\n", "text": "10.0.0.1",
		"list": "label: [gpu]\n", "another switch": "label: gpu\nstrict: 1\n", "no YAML": "label: a: b", "binary": "\x00\xff",
		"twice": "label: a\nlabel: a\n", "long": "label: " + strings.Repeat("x", 5000),
	} {
		got := readPin(value)
		if got == nil || got.Err == nil || got.PinDocument != (jobtree.PinDocument{}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestPinMatches(t *testing.T) {
	in := jobtree.Instance{ID: id, IP: "192.0.2.2", Labels: []string{"gpu", "zone=b"}}
	for _, tc := range []struct {
		pin  jobtree.PinDocument
		want bool
	}{
		{jobtree.PinDocument{Instance: id}, true},
		{jobtree.PinDocument{Instance: "192.0.2.2"}, false},
		{jobtree.PinDocument{Address: "192.0.2.2"}, true},
		{jobtree.PinDocument{Address: "192.0.2.20"}, false},
		{jobtree.PinDocument{Label: "zone=b"}, true},
		{jobtree.PinDocument{Label: "zone"}, false},
	} {
		if got := tc.pin.Matches(in); got != tc.want {
			t.Errorf("%+v: %v", tc.pin, got)
		}
	}
	if (&jobtree.PinDocument{Label: "gpu"}).Matches(jobtree.Instance{}) {
		t.Error("an instance without labels matches")
	}
}
