package cluster

import (
	"github.com/elasticjob-go/elasticjob/internal/testserver/proxy"
)

// links are the connections of one process to the members of the store.
type links []*proxy.Proxy

func newLinks(addresses []string) (links, error) {
	var l links
	for _, address := range addresses {
		p, err := proxy.New(address)
		if err != nil {
			l.close()
			return nil, err
		}
		l = append(l, p)
	}
	return l, nil
}

func (l links) addresses() []string {
	var addresses []string
	for _, p := range l {
		addresses = append(addresses, p.Addr())
	}
	return addresses
}

func (l links) each(do func(*proxy.Proxy)) {
	for _, p := range l {
		do(p)
	}
}

func (l links) close() { l.each((*proxy.Proxy).Close) }
