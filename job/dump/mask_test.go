package dump_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/job/dump"
)

// masked returns the values of nodes as a masked dump has them.
func masked(values ...string) (list []string) {
	d := dump.Dump{}
	for _, v := range values {
		d.Nodes = append(d.Nodes, dump.Node{Value: v})
	}
	for _, n := range d.Masked().Nodes {
		list = append(list, n.Value)
	}
	return list
}

func TestMasked(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"", ""},
		{"nothing of 1.2.3", "nothing of 1.2.3"},
		{"10.0.0.1 10.0.0.10 10.0.0.1", "ip1 ip2 ip1"},
		{"10.0.0.1@-@1234-ab", "ip1@-@1234-ab"},
		{"dial tcp 10.0.0.1:2181: refused.", "dial tcp ip1:2181: refused."},
		{"it is 10.0.0.1.", "it is ip1."},
		{"host10.0.0.1b", "hostip1b"},
		{"node:10.0.0.1,add:10.0.0.2:80", "node:ip1,add:ip2:80"},
		{"10.0.0.0/8-10.0.0.9", "ip1/8-ip2"},
		{"1.10.0.0.1 256.0.0.1 1..2.3.4", "1.10.0.0.1 256.0.0.1 1..2.3.4"},
		{"fe80::1%eth0 [fe80::1]:80 FE80:0:0:0:0:0:0:1", "ip1%eth0 [ip1]:80 ip1"},
		{"/0:0:0:0:0:0:0:1:2181 ::1", "/ip1:2181 ip1"},
		{"::ffff:10.0.0.1 10.0.0.1 ::ffff:10.0.0.1:80", "ip1 ip1 ip1:80"},
		{"server:fe80::1, fe80::2: refused. 2001:db8::.", "server:ip1, ip2: refused. ip3."},
		{"fe80::1@-@7", "ip1@-@7"},
		{"std::cout a::bx :: 12:30:45 00:1a:2b:3c:4d:5e", "std::cout a::bx :: 12:30:45 00:1a:2b:3c:4d:5e"},
		{"2026-11-22T12:30:45.123Z", "2026-11-22T12:30:45.123Z"},
	} {
		if got := masked(tc.text)[0]; got != tc.want {
			t.Errorf("%q: %q, want %q", tc.text, got, tc.want)
		}
	}
}

// Whatever stands around addresses: none is left, each has one name, in the order of first
// appearance, and what is no address stays.
func TestMaskIsInjectiveAndComplete(t *testing.T) {
	address := rapid.OneOf(
		rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 10, 100, 255}), 4, 4), func(b []byte) netip.Addr { return netip.AddrFrom4([4]byte(b)) }),
		rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]byte{0, 0, 0, 1, 0xab}), 16, 16), func(b []byte) netip.Addr { return netip.AddrFrom16([16]byte(b)) }),
	)
	rapid.Check(t, func(t *rapid.T) {
		pool := rapid.SliceOfN(address, 1, 5).Draw(t, "addresses")
		names := map[netip.Addr]string{}
		var texts, wants []string
		for range rapid.IntRange(1, 4).Draw(t, "texts") {
			var text, want strings.Builder
			between := func() {
				s := rapid.SampledFrom([]string{" ", "/", ", ", "|", "@-@12 ", "=", "\n", " server ", "%eth0 ", " 1.2.3 ", " ::\t", "é", "[", "]:80 "}).Draw(t, "between")
				text.WriteString(s)
				want.WriteString(s)
			}
			for range rapid.IntRange(1, 6).Draw(t, "parts") {
				between()
				a := rapid.SampledFrom(pool).Draw(t, "address")
				form := a.String()
				if a.Is6() && rapid.Bool().Draw(t, "long") {
					form = strings.ToUpper(a.StringExpanded())
				}
				text.WriteString(form)
				if a == netip.IPv6Unspecified() {
					want.WriteString(form)
					continue
				}
				if names[a.Unmap()] == "" {
					names[a.Unmap()] = fmt.Sprintf("ip%d", len(names)+1)
				}
				want.WriteString(names[a.Unmap()])
			}
			between()
			texts, wants = append(texts, text.String()), append(wants, want.String())
		}
		if got := masked(texts...); !reflect.DeepEqual(got, wants) {
			t.Fatalf("%q\nis %q\nwant %q", texts, got, wants)
		}
	})
}

// Whatever a text is: what is left is no address, and masking it again changes nothing.
func TestMaskOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"0", "1", "25", "256", "a", "fe80", ".", "..", ":", "::", " ", "x", "10.0.0.1", "::1", "1:2:3:4:5:6:7:8", "%", "[", "]"})).Draw(t, "text"), "")
		got := masked(text)[0]
		if again := masked(got)[0]; again != got {
			t.Fatalf("%q is %q, and then %q", text, got, again)
		}
		for _, word := range strings.FieldsFunc(got, func(r rune) bool { return strings.ContainsRune(" []%", r) }) {
			if a, err := netip.ParseAddr(word); err == nil && a != netip.IPv6Unspecified() {
				t.Fatalf("%q is %q", text, got)
			}
			if _, err := netip.ParseAddrPort(word); err == nil {
				t.Fatalf("%q is %q", text, got)
			}
		}
	})
}

// fill puts a text into every string that a value has.
func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), text)
			}
		}
	}
}

// No field of a dump is forgotten, and what is masked is a copy.
func TestMaskOfEveryField(t *testing.T) {
	var d dump.Dump
	fill(reflect.ValueOf(&d).Elem(), "at 10.0.0.7")
	before, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	document, err := json.Marshal(d.Masked())
	if err != nil {
		t.Fatal(err)
	}
	// What this module and Go say themselves, and words.
	own := regexp.MustCompile(`"(version|go|session|difference|kind)":"at 10.0.0.7"`)
	if rest := own.ReplaceAllString(string(document), ""); strings.Contains(rest, "10.0.0.7") {
		t.Errorf("not masked: %s", rest)
	}
	if after, err := json.Marshal(d); err != nil || string(after) != string(before) {
		t.Errorf("masking has changed the dump (%v)", err)
	}
}
