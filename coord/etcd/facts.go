package etcd

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Facts implements [coord.Inspector]. It asks all endpoints for their status, and finds out what
// this user may do and whether the store compacts its history. The request time-out bounds each
// question. It opens a connection to each endpoint for a moment; as after any new one, open views
// are read again, 20 in a second. So it is for people, and not for each second.
func (r *Registry) Facts(ctx context.Context) (coord.StoreFacts, error) {
	facts := coord.StoreFacts{Product: "etcd"}
	endpoints := r.client.Endpoints()
	facts.Members = make([]coord.MemberFacts, len(endpoints))
	alarms := make([][]string, len(endpoints))
	var asking sync.WaitGroup
	for i, endpoint := range endpoints {
		asking.Go(func() { facts.Members[i], alarms[i] = r.memberFacts(ctx, endpoint) })
	}
	asking.Wait()
	facts.Alarms = slices.Concat(alarms...)
	slices.Sort(facts.Alarms)
	facts.Alarms = slices.Compact(facts.Alarms) // each member lists those of all
	_, err := r.get(ctx, "may this user read", r.keys.prefix, clientv3.WithPrefix(), clientv3.WithCountOnly(), clientv3.WithLimit(1))
	facts.Reads = permitted(err)
	facts.Writes = permitted(r.mayWrite(ctx))
	var inUse int64
	for _, m := range facts.Members {
		inUse = max(inUse, m.InUse)
	}
	facts.Compacts = r.compacts(ctx, inUse)
	facts.ElasticJob = r.elasticJobs(ctx)
	if r.ctx.Err() != nil {
		return facts, context.Cause(r.ctx)
	}
	if ctx.Err() != nil {
		return facts, context.Cause(ctx)
	}
	return facts, nil
}

// elasticJobs looks for jobs of ElasticJob's registry for etcd, below the first segments of all keys, of which it
// looks at maxRoots at most. It leaves out what cannot be read.
func (r *Registry) elasticJobs(ctx context.Context) (jobs []string) {
	const maxRoots, what = 100, "look for jobs of ElasticJob"
	from := "/"
	for range maxRoots {
		first, err := r.get(ctx, what, from, clientv3.WithRange("/\xff"), clientv3.WithKeysOnly(), clientv3.WithLimit(1))
		if err != nil || len(first.Kvs) == 0 {
			return jobs
		}
		name, _, _ := strings.Cut(string(first.Kvs[0].Key)[1:], "/")
		config, err := r.get(ctx, what, "/"+name+"/config")
		if err != nil {
			return jobs
		}
		if len(config.Kvs) > 0 && bytes.Contains(config.Kvs[0].Value, []byte("shardingTotalCount:")) {
			jobs = append(jobs, name)
		}
		from = "/" + name + afterSlash
	}
	return jobs
}

func permitted(err error) coord.Answer {
	switch {
	case err == nil:
		return coord.Yes
	case errors.Is(err, coord.ErrDenied):
		return coord.No
	}
	return coord.Unknown
}

// mayWrite sends a transaction that does nothing, because its condition never holds. A server
// checks the rights for what a transaction might do before that.
func (r *Registry) mayWrite(ctx context.Context) error {
	key := r.keys.session(0) // of no session; whoever changes or runs jobs may write the keys of sessions
	return r.request(ctx, "may this user write", func(ctx context.Context) error {
		_, err := r.client.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(key), "<", 0)).Then(clientv3.OpPut(key, "")).Commit()
		return err
	})
}

// memberFacts asks one member for its status, on a connection of its own.
func (r *Registry) memberFacts(ctx context.Context, endpoint string) (facts coord.MemberFacts, alarms []string) {
	_, facts.Address = splitEndpoint(endpoint)
	var status *clientv3.StatusResponse
	err := r.request(ctx, "ask "+facts.Address+" for its status", func(ctx context.Context) (err error) {
		status, err = r.client.Status(ctx, endpoint)
		return err
	})
	if err != nil {
		facts.Why, facts.Silent = err.Error(), !errors.Is(err, coord.ErrDenied)
		return facts, nil
	}
	facts.Version = status.Version
	facts.Unsupported = unsupported(status.Version)
	if mended, old := tooOld(status.Version); old {
		facts.Mended = mended
	}
	facts.Leads = status.Leader != 0 && status.Leader == status.Header.GetMemberId()
	facts.Size, facts.InUse, facts.Quota = status.DbSize, status.DbSizeInUse, status.DbSizeQuota
	for _, text := range status.Errors {
		if strings.Contains(text, "alarm:") { // others say that the member has no leader, or lags
			alarms = append(alarms, strings.TrimSpace(text))
		} else {
			facts.Why = text
		}
	}
	return facts, alarms
}
