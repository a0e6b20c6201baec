// Package instance names this process as an instance of a job: its address and its id.
//
//	id := instance.NewID(instance.LocalIP()) // 10.1.2.3@-@4711-5f0e6a3b9c1d
package instance

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// NewID returns the id of a new instance at the address. The address and the process id are for people. They are
// not unique, because containers may have the same ones; the random part is.
func NewID(ip string) string {
	var random [6]byte
	rand.Read(random[:]) // never fails
	return jobtree.InstanceID(ip, os.Getpid(), hex.EncodeToString(random[:]))
}

// CheckIP checks a text that a program gives as the address of this host.
func CheckIP(ip string) error {
	const what = "job: WithIP, the address of this host:"
	switch problem := coord.ValidatePath(ip); {
	case ip == "":
		return fmt.Errorf("%s it is empty; 1 to %d bytes are allowed", what, jobtree.MaxIP)
	case len(ip) > jobtree.MaxIP:
		return fmt.Errorf("%s %d bytes, at most %d are allowed", what, len(ip), jobtree.MaxIP)
	case strings.Contains(ip, "/") || strings.Contains(ip, "@-@"):
		return fmt.Errorf("%s %q has a slash or @-@; an address or a host name is allowed", what, ip)
	case problem != nil:
		return fmt.Errorf("%s %w", what, problem)
	}
	return nil
}

// LocalIP returns the address by which other hosts most likely know this one. It takes
// interfaces that are up, prefers the machine's own to those made by software, and IPv4 to
// IPv6, and otherwise takes the first. If there is nothing else, it is a loopback address.
func LocalIP() string {
	return best(localAddresses()).String()
}

// AddressIn returns this host's address in a network, such as "10.0.0.0/8".
func AddressIn(network string) (string, error) {
	prefix, err := netip.ParsePrefix(network)
	if err != nil {
		return "", fmt.Errorf("job: network %s: an address and the length of its prefix are allowed, such as 10.0.0.0/8", brief.Quote(network))
	}
	return addressIn(prefix, localAddresses())
}

// addressIn returns the best of the addresses in a network.
func addressIn(network netip.Prefix, local []localAddress) (string, error) {
	within := slices.DeleteFunc(slices.Clone(local), func(a localAddress) bool { return !network.Contains(a.Addr) })
	if len(within) == 0 {
		const most = 20
		shown, more := min(len(local), most), ""
		if len(local) > most {
			more = fmt.Sprintf(" and %d more", len(local)-most)
		}
		return "", fmt.Errorf("job: network %v: this host has no address there, it has %v%s", network, local[:shown], more)
	}
	return best(within).String(), nil
}

// localAddress is an address of this host.
type localAddress struct {
	netip.Addr
	virtual bool // its interface is made by software
}

// rank is lower for an address by which other hosts more likely know this one.
func (a localAddress) rank() int {
	rank := 0
	if a.Is6() {
		rank++
	}
	if a.IsLinkLocalUnicast() {
		rank += 2
	}
	if a.virtual {
		rank += 4
	}
	if a.IsLoopback() {
		rank += 8
	}
	return rank
}

// best returns the first address with the lowest rank.
func best(addresses []localAddress) netip.Addr {
	if len(addresses) == 0 {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return slices.MinFunc(addresses, func(a, b localAddress) int { return cmp.Compare(a.rank(), b.rank()) }).Addr
}

// localAddresses returns the addresses of the interfaces that are up. It leaves out an
// interface that cannot be read.
func localAddresses() []localAddress {
	interfaces, err := net.Interfaces()
	if err != nil {
		return nil
	}
	var addresses []localAddress
	for _, i := range interfaces {
		if i.Flags&net.FlagUp == 0 {
			continue
		}
		found, err := i.Addrs()
		if err != nil {
			continue
		}
		virtual := i.Flags&net.FlagPointToPoint != 0 || isVirtual(i.Name)
		for _, a := range found {
			if prefix, err := netip.ParsePrefix(a.String()); err == nil {
				addresses = append(addresses, localAddress{prefix.Addr().Unmap().WithZone(""), virtual})
			}
		}
	}
	return addresses
}

// isVirtual reports whether an interface has a name that container engines, hypervisors and tunnels give to
// interfaces on a host. Inside of a container the interface has an ordinary name.
func isVirtual(name string) bool {
	return slices.ContainsFunc([]string{
		"br-", "bridge", "cali", "cilium", "cni", "docker", "dummy", "flannel", "kube", "lxc", "lxd", "nodelocaldns",
		"podman", "tailscale", "tap", "tun", "utun", "vboxnet", "veth", "virbr", "vmnet", "wg", "zt",
	}, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}
