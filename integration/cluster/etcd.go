package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/internal/testserver/child"
)

// etcdMembers is how many members a cluster has.
const etcdMembers = 3

// etcdStore is an etcd cluster whose members are processes of their own.
type etcdStore struct {
	folder  *folder
	spawner *spawner
	members []*etcdMember
	admin   *clientv3.Client
	users   bool // it asks clients for a user and a password
}

// StartEtcd starts an etcd cluster whose members' databases may grow up to a number of
// bytes; ctx bounds the start. The caller closes it.
func StartEtcd(ctx context.Context, quota int64) (Store, error) {
	return startEtcd(ctx, quota, false)
}

// StartEtcdWithUsers starts one that asks clients for a user and a password.
func StartEtcdWithUsers(ctx context.Context, quota int64) (Store, error) {
	return startEtcd(ctx, quota, true)
}

func startEtcd(ctx context.Context, quota int64, users bool) (Store, error) {
	f, err := newFolder()
	if err != nil {
		return nil, err
	}
	s := &etcdStore{folder: f, spawner: newSpawner(), users: users}
	if err := s.start(ctx, quota); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *etcdStore) start(ctx context.Context, quota int64) error {
	ports, err := child.FreePorts(2 * etcdMembers)
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	var cluster []string
	for i := range etcdMembers {
		name := fmt.Sprintf("member%d", i)
		cluster = append(cluster, name+"=http://"+child.Address(ports[2*i]))
		s.members = append(s.members, &etcdMember{
			name: name, folder: s.folder.at(name), peer: child.Address(ports[2*i]), client: child.Address(ports[2*i+1]), quota: quota,
		})
	}
	for _, m := range s.members {
		m.cluster = strings.Join(cluster, ",")
	}
	if err := s.Restart(ctx, 0, 1, 2); err != nil {
		return err
	}
	return s.open(ctx)
}

// open gives a new store its users, if it is to have some, and opens the client.
func (s *etcdStore) open(ctx context.Context) (err error) {
	if s.admin != nil {
		_ = s.admin.Close() // it is of a store that is gone
	}
	if s.users {
		if err := s.addUsers(ctx); err != nil {
			return err
		}
	}
	s.admin, err = s.client(ctx, s.users, s.Addresses()...)
	return err
}

// client dials as a user who may do everything.
func (s *etcdStore) client(ctx context.Context, login bool, addresses ...string) (*clientv3.Client, error) {
	c := clientv3.Config{Endpoints: addresses, DialTimeout: 5 * time.Second, Logger: zap.NewNop()}
	if login {
		c.Username, c.Password = rootUser, password
	}
	again := time.NewTicker(50 * time.Millisecond) // a new store may not know its users yet
	defer again.Stop()
	for {
		client, err := clientv3.New(c)
		if err == nil {
			return client, nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("cluster: etcd client: %w", err)
		}
	}
}

func (s *etcdStore) Kind() string { return Etcd }

func (s *etcdStore) Addresses() []string {
	var addresses []string
	for _, m := range s.members {
		addresses = append(addresses, m.client)
	}
	return addresses
}

func (s *etcdStore) Leader(ctx context.Context) (leader int, err error) {
	err = patiently(ctx, func() (err error) {
		leader, _, err = s.leader(ctx)
		return err
	})
	return leader, err
}

// patiently does something again while the members have no leader, or time out: they elect one anew
// when the machine has stood still. What it does may be done twice.
func patiently(ctx context.Context, do func() error) error {
	for {
		err := do()
		var refused rpctypes.EtcdError
		isElecting := errors.Is(err, errNobodyLeads) || errors.Is(err, rpctypes.ErrNotLeader) || status.Code(err) == codes.Unavailable ||
			errors.As(err, &refused) && refused.Code() == codes.Unavailable
		if !isElecting || !sleep.For(ctx, patience) {
			return err
		}
	}
}

// errNobodyLeads: no member says that it is the leader.
var errNobodyLeads = errors.New("cluster: no etcd member leads")

// leader asks the members once.
func (s *etcdStore) leader(ctx context.Context) (leader int, ids []uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	leader = -1
	var errs []error
	for i, m := range s.members {
		status, err := s.admin.Status(ctx, m.client)
		if err != nil {
			errs = append(errs, err)
			ids = append(ids, 0)
			continue
		}
		ids = append(ids, status.Header.MemberId)
		if status.Leader == status.Header.MemberId {
			leader = i
		}
	}
	if leader < 0 {
		return -1, ids, errors.Join(append([]error{errNobodyLeads}, errs...)...)
	}
	return leader, ids, nil
}

func (s *etcdStore) Kill(members ...int) error {
	var errs []error
	for _, i := range members {
		errs = append(errs, s.members[i].signal(syscall.SIGKILL))
	}
	for _, i := range members {
		<-s.members[i].ended
	}
	return errors.Join(errs...)
}

func (s *etcdStore) Restart(ctx context.Context, members ...int) error {
	for _, i := range members {
		if err := s.members[i].start(s.spawner, s.folder); err != nil {
			return err
		}
	}
	for _, i := range members {
		if err := s.members[i].await(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *etcdStore) Pause(member int) error  { return s.members[member].pause() }
func (s *etcdStore) Resume(member int) error { return s.members[member].signal(syscall.SIGCONT) }

func (s *etcdStore) MoveLeader(ctx context.Context) error {
	return patiently(ctx, func() error { return s.moveLeader(ctx) })
}

func (s *etcdStore) moveLeader(ctx context.Context) error {
	leader, ids, err := s.leader(ctx)
	if err != nil {
		return err
	}
	c, err := s.client(ctx, s.users, s.members[leader].client)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.MoveLeader(ctx, ids[(leader+1)%len(ids)]); err != nil {
		return fmt.Errorf("cluster: move the leader of etcd: %w", err)
	}
	return nil
}

func (s *etcdStore) Forget(ctx context.Context) error {
	return patiently(ctx, func() error { return s.forget(ctx) })
}

func (s *etcdStore) forget(ctx context.Context) error {
	now, err := s.admin.Get(ctx, "x")
	if err != nil {
		return fmt.Errorf("cluster: compact etcd: %w", err)
	}
	_, err = s.admin.Compact(ctx, now.Header.Revision, clientv3.WithCompactPhysical())
	if err != nil && !errors.Is(err, rpctypes.ErrCompacted) {
		return fmt.Errorf("cluster: compact etcd: %w", err)
	}
	for _, m := range s.members {
		if _, err := s.admin.Defragment(ctx, m.client); err != nil {
			return fmt.Errorf("cluster: defragment etcd: %w", err)
		}
	}
	return nil
}

// Keys that no namespace of a cluster has.
const fillPrefix = "/fill/"

func (s *etcdStore) FillUp(ctx context.Context) error {
	value := strings.Repeat("x", 1<<20)
	for i := 0; ; i++ {
		err := patiently(ctx, func() error {
			_, err := s.admin.Put(ctx, fmt.Sprint(fillPrefix, i), value)
			return err
		})
		switch {
		case errors.Is(err, rpctypes.ErrNoSpace):
			return nil
		case err != nil:
			return fmt.Errorf("cluster: fill etcd up: %w", err)
		}
	}
}

func (s *etcdStore) Free(ctx context.Context) error {
	if err := patiently(ctx, func() error {
		_, err := s.admin.Delete(ctx, fillPrefix, clientv3.WithPrefix())
		return err
	}); err != nil {
		return fmt.Errorf("cluster: free space in etcd: %w", err)
	}
	if err := s.Forget(ctx); err != nil {
		return err
	}
	if err := patiently(ctx, func() error {
		_, err := s.admin.AlarmDisarm(ctx, &clientv3.AlarmMember{})
		return err
	}); err != nil {
		return fmt.Errorf("cluster: end the alarm of etcd: %w", err)
	}
	return nil
}

func (s *etcdStore) FillDisk(ctx context.Context, member int) error {
	m := s.members[member]
	if err := m.limitFiles(1); err != nil {
		return err
	}
	for {
		// A member whose disk is full ends itself at its next write.
		if _, err := s.admin.Put(ctx, fillPrefix+"disk", "x"); err != nil && ctx.Err() != nil {
			return fmt.Errorf("cluster: fill the disk of etcd: %w", context.Cause(ctx))
		}
		select {
		case <-m.ended:
			return nil
		default:
		}
	}
}

func (s *etcdStore) Sessions(ctx context.Context) (int, error) {
	leases, err := s.admin.Leases(ctx)
	if err != nil {
		return 0, fmt.Errorf("cluster: leases of etcd: %w", err)
	}
	return len(leases.Leases), nil
}

func (s *etcdStore) Close() error {
	if s.admin != nil {
		_ = s.admin.Close() // the members are killed next
	}
	var errs []error
	for _, m := range s.members {
		if m.running() {
			errs = append(errs, m.signal(syscall.SIGKILL))
			<-m.ended
		}
	}
	s.spawner.close()
	return errors.Join(append(errs, s.folder.close(""))...)
}
