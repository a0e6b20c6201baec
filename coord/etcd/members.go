package etcd

import (
	"context"
	"math/rand/v2"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

// keepEndpoints adds the addresses that the members advertise to those of the
// configuration, at each SyncInterval until Close.
func (r *Registry) keepEndpoints() {
	for sleep.For(r.ctx, r.config.SyncInterval/2+rand.N(r.config.SyncInterval)) {
		var members *clientv3.MemberListResponse
		err := r.request(r.ctx, "list the members", func(ctx context.Context) (err error) {
			members, err = r.client.MemberList(ctx)
			return err
		})
		if err != nil {
			r.log.Debug("cannot list the members of the etcd cluster", zap.Error(err))
			continue
		}
		var advertised []string
		for _, m := range members.Members {
			if !m.IsLearner {
				advertised = append(advertised, m.ClientURLs...)
			}
		}
		if endpoints := withAdvertised(r.config.Endpoints, advertised); !slices.Equal(endpoints, r.client.Endpoints()) {
			r.log.Info("the members of the etcd cluster advertise other addresses than before", zap.Strings("endpoints", endpoints))
			r.client.SetEndpoints(endpoints...)
		}
	}
}

// withAdvertised returns the configured endpoints, followed by the advertised addresses that
// are not among them, with the scheme of the configured ones. Configured endpoints always
// stay: advertised addresses may not be reachable from here.
func withAdvertised(configured, advertised []string) []string {
	const most = 64
	known := make(map[string]bool)
	form := ""
	for _, endpoint := range configured {
		scheme, address := splitEndpoint(endpoint)
		known[address] = true
		if scheme != "" {
			form = scheme + "://"
		}
	}
	endpoints := slices.Clone(configured)
	for _, url := range slices.Sorted(slices.Values(advertised)) {
		_, address := splitEndpoint(url)
		if !known[address] && len(endpoints) < most && validateEndpoints([]string{address}, false) == nil {
			known[address] = true
			endpoints = append(endpoints, form+address)
		}
	}
	return endpoints
}
