package etcd

import (
	"context"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
)

// One member answers a serializable read, whether it has lost the others or not.
func TestSerializableReadsDoNotCount(t *testing.T) {
	for _, serializable := range []bool{false, true} {
		r := new(Registry)
		answer := &pb.RangeResponse{Header: &pb.ResponseHeader{ClusterId: 1, Revision: 2}}
		answered := func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return nil }
		if err := r.observe(t.Context(), "/etcdserverpb.KV/Range", &pb.RangeRequest{Serializable: serializable}, answer, nil, answered); err != nil {
			t.Fatal(err)
		}
		if noted := r.identity.now().cluster != 0; noted == serializable {
			t.Errorf("serializable %v: the answer is noted: %v", serializable, noted)
		}
	}
}
