package etcd

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"

	"github.com/elasticjob-go/elasticjob/coord"
)

// yes is a store that agrees with everything, at once.
type yes struct{ pb.KVClient }

func (yes) Txn(_ context.Context, request *pb.TxnRequest, _ ...grpc.CallOption) (*pb.TxnResponse, error) {
	answer := &pb.TxnResponse{Header: &pb.ResponseHeader{Revision: 1}, Succeeded: true}
	for range request.Success {
		answer.Responses = append(answer.Responses, &pb.ResponseOp{Response: &pb.ResponseOp_ResponseTxn{ResponseTxn: &pb.TxnResponse{Succeeded: true}}})
	}
	return answer, nil
}

// BenchmarkCommitter is what a commit costs here, without gRPC and the store: one caller, and
// many at the same time.
func BenchmarkCommitter(b *testing.B) {
	for _, callers := range []int{1, 1000} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			r := &Registry{kv: yes{}, keys: newKeyspace("bench"), config: Config{RequestTimeout: time.Minute}}
			r.committer.registry = r
			r.ctx, r.end = context.WithCancelCause(context.Background())
			defer r.end(coord.ErrClosed)
			var left atomic.Int64
			left.Store(int64(b.N))
			b.ReportAllocs()
			var running sync.WaitGroup
			for i := range callers {
				item := fmt.Sprintf("jobs/job-%d/sharding/0", i)
				running.Go(func() {
					for left.Add(-2) > -2 {
						_, claimed := r.Commit(b.Context(), coord.Exists("me"), coord.Exists(item+"/instance"),
							coord.Create(item+"/running", []byte("me")), coord.Set(item+"/fired", []byte("0123456789abcdef")))
						_, finished := r.Commit(b.Context(), coord.Exists("me"), coord.Delete(item+"/running"))
						if claimed != nil || finished != nil {
							b.Error(claimed, finished)
						}
					}
				})
			}
			running.Wait()
			r.running.Wait()
		})
	}
}
