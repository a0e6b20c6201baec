package request

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Job is a job that is asked for runs.
type Job struct {
	Name     jobtree.Job
	Registry coord.Registry
	// Read returns the newest tree of the job.
	Read func(context.Context) (*jobtree.State, error)
	// Now is the time of the request: the store's, or the local one if that is not known.
	Now func() time.Time
	// Commit commits a request, together with the entry of an audit, say; nil is Registry.Commit.
	Commit func(ctx context.Context, id string, d jobtree.RequestDocument, ops []coord.Op) error
}

// attempts is how often a request is tried that meets others.
const attempts = 20

// errAwaitsOwners says that it depends on owners that are still to be assigned what the request is for.
var errAwaitsOwners = errors.New("items wait for an owner")

// Make writes the request that of returns, and tries again as long as it meets others. Two requests with the same key are
// one, if the same was asked for; without a key a request is like no other.
//
// Errors: jobtype.ErrKeyUsed; jobtype.ErrQueueFull; those of of, Read and Commit.
func (j Job) Make(ctx context.Context, key string, asked []byte, of func(*jobtree.State) (jobtree.RequestDocument, error)) (*jobtype.Requested, error) {
	unique, err := uniqueOf(key, asked)
	if err != nil {
		return nil, err
	}
	backoff := sleep.Backoff{Min: 5 * time.Millisecond, Max: time.Second}
	for try := 1; ; {
		r, err := j.tryMake(ctx, unique, of)
		switch {
		case errors.Is(err, errAwaitsOwners):
			if !backoff.Wait(ctx) {
				return nil, fmt.Errorf("%w: %w", err, context.Cause(ctx))
			}
		case !meetsOthers(err) || try == attempts:
			return r, err
		default:
			try++
			if !backoff.Wait(ctx) {
				return nil, fmt.Errorf("%w: %w", context.Cause(ctx), err)
			}
		}
	}
}

// meetsOthers reports whether another attempt may do better: the tree has changed since it was read, or the answer was
// lost, and the next look at the tree tells. On ZooKeeper a denial comes as a conflict, too.
func meetsOthers(err error) bool {
	return (errors.Is(err, coord.ErrConflict) || errors.Is(err, coord.ErrUnknownOutcome)) && !errors.Is(err, coord.ErrDenied)
}

func (j Job) tryMake(ctx context.Context, unique string, of func(*jobtree.State) (jobtree.RequestDocument, error)) (*jobtype.Requested, error) {
	s, err := j.Read(ctx)
	if err != nil {
		return nil, err
	}
	if known, err := s.Submitted(unique); err != nil {
		return nil, err
	} else if known != nil { // with the key, or the answer to an attempt was lost
		r := j.requested(s, known.ID, known.RequestDocument)
		r.WasThere = true
		return r, nil
	}
	d, err := of(s)
	if err != nil {
		return nil, err
	}
	d.At, d.Kept = j.Now(), true
	id, ops, err := decide.Submit(s, j.Name, d, unique)
	if err != nil {
		return nil, err
	}
	if j.Commit != nil {
		err = j.Commit(ctx, id, d, ops)
	} else {
		_, err = j.Registry.Commit(ctx, ops...)
	}
	if err != nil {
		return nil, err
	}
	return j.requested(s, id, d), nil
}

// requested is the answer to a request.
func (j Job) requested(s *jobtree.State, id string, d jobtree.RequestDocument) *jobtype.Requested {
	jvm, beside := s.OfJVM(d.Items)
	r := jobtype.Requested{ID: id, Items: d.Items, Ticks: d.Ticks, Instances: ownersOf(s, d.Items), JVM: jvm, Beside: beside}
	return r.Waiting(func(ctx context.Context) ([]jobtype.ItemResult, error) { return Await(ctx, j.Registry, j.Name, id) })
}

// uniqueOf returns what keeps a request apart from others.
func uniqueOf(key string, asked []byte) (string, error) {
	if len(key) > jobtype.MaxRequestKey {
		return "", fmt.Errorf("key: %d bytes, at most %d are allowed", len(key), jobtype.MaxRequestKey)
	}
	if key != "" {
		return jobtree.KeyedRequest(key, asked), nil
	}
	id, err := uuid.NewV7()
	return id.String(), err
}
