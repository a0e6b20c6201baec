package cluster

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

const host = "127.0.0.1"

// freeAddresses finds addresses to listen on that stay free while their server is
// restarted: they are below the ports that systems give to outgoing connections.
func freeAddresses(n int) ([]string, error) {
	const lowest, highest, attempts = 10240, 32767, 1000
	var addresses []string
	for range attempts {
		if len(addresses) == n {
			return addresses, nil
		}
		address := net.JoinHostPort(host, strconv.Itoa(lowest+rand.IntN(highest-lowest+1)))
		l, err := net.Listen("tcp", address)
		if err != nil {
			continue // somebody has it
		}
		defer l.Close() // only at the end, so that no port is found twice
		addresses = append(addresses, address)
	}
	return nil, fmt.Errorf("cluster: no free ports")
}
