package instance

import (
	"net/netip"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Ids are unique even if containers have the same process id and the same address. (In
// ElasticJob they collide then, defect B-67.)
func TestInstanceIDsAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for range 10_000 {
		id := NewID("2001:db8::1")
		if seen[id] {
			t.Fatalf("%s again", id)
		}
		seen[id] = true
		if jobtree.InstanceIP(id) != "2001:db8::1" || !strings.Contains(id, "@-@"+strconv.Itoa(os.Getpid())+"-") {
			t.Fatal(id)
		}
		if err := coord.ValidatePath(jobtree.Job("settle").Instance(id)); err != nil {
			t.Fatal(err)
		}
	}
}

func addresses(texts ...string) []localAddress {
	var all []localAddress
	for _, text := range texts {
		text, virtual := strings.CutSuffix(text, " virtual")
		all = append(all, localAddress{netip.MustParseAddr(text), virtual})
	}
	return all
}

func TestBestAddress(t *testing.T) {
	for _, tc := range []struct {
		want  string
		local []string
	}{
		{"127.0.0.1", nil},
		{"127.0.0.1", []string{"127.0.0.1"}},
		{"::1", []string{"::1"}},
		{"192.0.2.1", []string{"127.0.0.1", "::1", "172.17.0.1 virtual", "2001:db8::1", "192.0.2.1", "192.0.2.2"}},
		{"2001:db8::1", []string{"127.0.0.1", "fe80::1", "172.17.0.1 virtual", "2001:db8::1"}},
		{"192.0.2.1", []string{"169.254.1.1", "192.0.2.1"}},
		{"172.17.0.1", []string{"127.0.0.1", "fd00::1 virtual", "172.17.0.1 virtual"}},
		{"fe80::1", []string{"::1", "fe80::1 virtual"}},
	} {
		if got := best(addresses(tc.local...)).String(); got != tc.want {
			t.Errorf("%q: got %s, want %s", tc.local, got, tc.want)
		}
	}
}

func TestAddressIn(t *testing.T) {
	local := addresses("127.0.0.1", "192.0.2.1", "10.1.2.3 virtual", "10.4.5.6", "2001:db8::1")
	for network, want := range map[string]string{"10.0.0.0/8": "10.4.5.6", "10.1.0.0/16": "10.1.2.3", "2001:db8::/32": "2001:db8::1", "127.0.0.1/32": "127.0.0.1"} {
		if got, err := addressIn(netip.MustParsePrefix(network), local); err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", network, got, err, want)
		}
	}
	_, err := addressIn(netip.MustParsePrefix("198.51.100.0/24"), local)
	if err == nil || !strings.Contains(err.Error(), "198.51.100.0/24") || !strings.Contains(err.Error(), "10.4.5.6") {
		t.Errorf("got %v", err)
	}
}

// Every host has an address, at least a loopback one.
func TestLocalIP(t *testing.T) {
	ip := LocalIP()
	if _, err := netip.ParseAddr(ip); err != nil {
		t.Error(err)
	}
	if err := CheckIP(ip); err != nil {
		t.Error(err)
	}
}

func TestAddressInNetworkByText(t *testing.T) {
	if ip, err := AddressIn("127.0.0.0/8"); err == nil && !strings.HasPrefix(ip, "127.") {
		t.Errorf("got %s", ip)
	}
	for _, network := range []string{"", "eth0", "10.0.0.1", "10.0.0.0/33"} {
		if _, err := AddressIn(network); err == nil || !strings.Contains(err.Error(), strconv.Quote(network)) {
			t.Errorf("%q: got %v", network, err)
		}
	}
}

func TestValidateIP(t *testing.T) {
	for _, ip := range []string{"192.0.2.1", "2001:db8::1", "a-host.example", "pod-0"} {
		if err := CheckIP(ip); err != nil {
			t.Errorf("%s: %v", ip, err)
		}
	}
	for _, ip := range []string{"", "10.0.0.0/8", "..", "a\x00b", "h@-@1"} {
		if err := CheckIP(ip); err == nil {
			t.Errorf("%q is allowed", ip)
		}
	}
}

func TestVirtualInterfaces(t *testing.T) {
	for name, want := range map[string]bool{
		"eth0": false, "ens3": false, "enp0s31f6": false, "wlan0": false, "bond0": false, "en0": false, "lo": false,
		"docker0": true, "br-1a2b3c": true, "veth1a2b": true, "cni0": true, "flannel.1": true, "cali12ab": true,
		"virbr0": true, "tun0": true, "utun3": true, "wg0": true, "tailscale0": true,
	} {
		if got := isVirtual(name); got != want {
			t.Errorf("%s: virtual is %v, want %v", name, got, want)
		}
	}
}
