package etcdmember

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/etcdutl/v3/snapshot"
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/target"
	"github.com/elasticjob-go/elasticjob/coord"
)

// Saved is what a snapshot has.
type Saved struct {
	Endpoint string
	Size     int64
	// Revision is one that the snapshot has, and maybe later ones.
	Revision int64
}

// Save writes a snapshot of a store to a file, from the first of its endpoints that gives a whole one. dial bounds how
// long each may take to answer at all. The file is there as a whole, or as it was before.
func Save(ctx context.Context, t *target.Target, dial time.Duration, file string) (Saved, error) {
	c, ok := t.EtcdConfig()
	if !ok {
		return Saved{}, exit.Errorf(exit.Usage, "store %s: snapshots are of etcd", t)
	}
	var errs []error
	for _, endpoint := range c.Endpoints {
		client, err := clientv3.New(clientv3.Config{
			Context: ctx, Endpoints: []string{endpoint}, DialTimeout: dial, TLS: c.TLS, Username: c.Username, Password: c.Password, Logger: zap.NewNop(),
		})
		if err = ofStore(ctx, err); err == nil {
			var saved Saved
			saved, err = save(ctx, client, dial, file)
			if err = errors.Join(err, client.Close()); err == nil {
				saved.Endpoint = endpoint
				return saved, nil
			}
		}
		errs = append(errs, fmt.Errorf("snapshot of %s: %w", endpoint, err))
	}
	return Saved{}, errors.Join(errs...)
}

func save(ctx context.Context, client *clientv3.Client, dial time.Duration, file string) (s Saved, err error) {
	first, cancel := context.WithTimeoutCause(ctx, dial, fmt.Errorf("%w: no answer within %v", coord.ErrUnavailable, dial))
	defer cancel()
	// A member that has lost the others would give a snapshot, and does not answer this read. The client's own Get would
	// wait, and not say why there is no connection.
	now, err := pb.NewKVClient(client.ActiveConnection()).Range(first, &pb.RangeRequest{Key: []byte("elasticjob"), CountOnly: true})
	if err != nil {
		return s, ofStore(first, err)
	}
	s.Revision = now.Header.Revision
	part, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*.part")
	if err != nil {
		return s, err
	}
	defer func() {
		_ = part.Close() // a second time, if all is well
		if err != nil {
			_ = os.Remove(part.Name())
		}
	}()
	answer, err := client.SnapshotWithVersion(ctx)
	if err != nil {
		return s, ofStore(ctx, err)
	}
	s.Size, err = io.Copy(part, answer.Snapshot)
	if err = errors.Join(err, answer.Snapshot.Close()); err != nil { // of the stream, or of the disk
		return s, cmp.Or(context.Cause(ctx), err)
	}
	if err := errors.Join(part.Sync(), part.Close()); err != nil {
		return s, err
	}
	if _, err := checksum(part.Name()); err != nil {
		return s, err
	}
	return s, os.Rename(part.Name(), file)
}

// ofStore makes one of coord's errors of one of the client's. If the request's context has ended its cause is the reason.
func ofStore(ctx context.Context, err error) error {
	switch e := rpctypes.Error(err); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(e, rpctypes.ErrPermissionDenied), errors.Is(e, rpctypes.ErrAuthFailed), errors.Is(e, rpctypes.ErrUserEmpty):
		return fmt.Errorf("%w: %v", coord.ErrDenied, err)
	}
	return fmt.Errorf("%w: %v", coord.ErrUnavailable, err)
}

// checksum compares the end of a snapshot with the SHA-256 of what comes before, and returns it.
func checksum(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	sum, want := sha256.New(), make([]byte, sha256.Size)
	size := info.Size() - sha256.Size
	if size <= 0 || size%512 != 0 { // a database has whole pages
		return nil, fmt.Errorf("%s: %d bytes are no whole snapshot of etcd", file, info.Size())
	}
	if _, err := io.CopyN(sum, f, size); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if _, err := io.ReadFull(f, want); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if !bytes.Equal(sum.Sum(nil), want) {
		return nil, fmt.Errorf("%s: the SHA-256 at its end is that of something else: it is damaged", file)
	}
	return want, nil
}

// bump is how much larger revisions are after a restore: more than were written since the snapshot, for fencing tokens
// are revisions.
const bump = 1_000_000_000

// Restore makes the data of a member from a snapshot, in a folder that has none.
//
// The members that are restored from the same file are a cluster of their own: one that still runs with the data of
// before, or is restored from another file, is none of it. So processes notice in any case, by the identity of the
// cluster.
func Restore(o Options, file string) error {
	all, own, err := o.members()
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	sum, err := checksum(file)
	if err != nil {
		return err
	}
	lock, err := Lock(o.Data)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // the end of the process does it, too
	data := filepath.Join(o.Data, "member")
	if _, err := os.Lstat(data); !errors.Is(err, os.ErrNotExist) {
		return errors.Join(exit.Errorf(exit.Conflict, "folder %s has data of a member already: restore into a new one", o.Data), err)
	}
	temp, err := os.MkdirTemp(o.Data, "restore-")
	if err != nil {
		return err
	}
	err = snapshot.NewV3(zap.NewNop()).Restore(snapshot.RestoreConfig{
		SnapshotPath: file, OutputDataDir: temp, Name: own.name, PeerURLs: []string{own.url.String()},
		InitialCluster: cluster(all), InitialClusterToken: hex.EncodeToString(sum),
		RevisionBump: bump, MarkCompacted: true,
	})
	if err != nil {
		err = fmt.Errorf("restore of %s: %w", file, err)
	} else {
		err = os.Rename(filepath.Join(temp, "member"), data)
	}
	return errors.Join(err, os.RemoveAll(temp))
}
