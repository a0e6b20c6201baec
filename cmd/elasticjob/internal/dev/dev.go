// Package dev is what one developer needs on one host to run jobs, without installing anything:
//
//	this process ──► etcd, in the same process, without TLS and users
//	             ──► the history, SQLite
//
//	store, err := dev.Start(ctx, dev.Options{Listen: "127.0.0.1:0", Namespace: "dev"})
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//	settings := store.Settings // how to get to both
//
// Without a folder of the caller's all data ends with the process, and nothing is synced to the disk. It is not made for
// production: who reaches its address may do anything, and there is one copy of the data.
package dev

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/etcdmember"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/target"
	"github.com/elasticjob-go/elasticjob/internal/embedetcd"
	"github.com/elasticjob-go/elasticjob/jobfile"
)

// Options say where it is.
type Options struct {
	// Listen is the address of etcd.
	Listen string
	// Folder keeps the data, and is made if it is not there. If it is empty, the data is in a temporary folder, which
	// goes with the process.
	Folder string
	// Namespace is that of Settings.
	Namespace string
}

// Store is etcd and a history.
type Store struct {
	// Settings say how to get to the namespace and its history.
	Settings target.Settings
	// Folder has the data, and room for more files that belong to it. Its path is absolute.
	Folder string
	// History is open.
	History *target.History

	server *embedetcd.Server
	isTemp bool
	lock   *flock.Flock
}

// Start starts etcd, and makes the tables of the history. ctx bounds the start only.
//
// Errors: an address in use, a folder that another process uses or that cannot be written.
func Start(ctx context.Context, o Options) (*Store, error) {
	s := &Store{Folder: o.Folder, isTemp: o.Folder == ""}
	err := s.start(ctx, o)
	if err == nil {
		return s, nil
	}
	return nil, fmt.Errorf("dev: %w", errors.Join(err, s.Close()))
}

func (s *Store) start(ctx context.Context, o Options) (err error) {
	if s.isTemp {
		s.Folder, err = embedetcd.TempFolder("elasticjob-dev-")
	} else {
		s.Folder, err = filepath.Abs(s.Folder)
	}
	if err != nil {
		return err
	}
	if s.lock, err = etcdmember.Lock(s.Folder); err != nil {
		return err
	}
	file := filepath.Join(s.Folder, "history.db")
	made, err := os.OpenFile(file, os.O_CREATE, 0o600) // OpenHistory wants to find one
	if err != nil {
		return err
	}
	if err := made.Close(); err != nil {
		return err
	}
	s.Settings = target.Settings{Store: "etcd", Namespace: o.Namespace, History: "sqlite:" + file}
	if s.History, err = s.Settings.OpenHistory(); err != nil {
		return err
	}
	if err := s.History.Migrate(ctx); err != nil {
		return err
	}
	if s.isTemp {
		s.server, err = embedetcd.Start(ctx, o.Listen)
	} else {
		s.server, err = embedetcd.Open(ctx, o.Listen, filepath.Join(s.Folder, "etcd"))
	}
	if err != nil {
		return err
	}
	s.Settings.Endpoints = s.server.Address()
	return nil
}

// Wait waits until etcd ends by itself, which is an error, or ctx does.
func (s *Store) Wait(ctx context.Context) error { return s.server.Wait(ctx) }

// Read reads files with jobs. These use this store and history, whatever the files and their profiles say: so a try
// touches nothing else. o.LookupEnv is needed.
func (s *Store) Read(o jobfile.Options, paths ...string) (*jobfile.File, error) {
	// Profiles come after all files. So what is to count are the last profiles: the first takes away what others say, so
	// that the second is not merged with it.
	const none, own = "elasticjob-dev-none", "elasticjob-dev"
	text := fmt.Sprintf("profiles:\n  %s: {registry: null, tracing: null}\n"+
		"  %s: {registry: {etcd: {endpoints: [%q], namespace: %q}}, tracing: {type: SQL, database: %q}}\n",
		none, own, s.Settings.Endpoints, s.Settings.Namespace, s.Settings.History)
	path := filepath.Join(s.Folder, "own.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("dev: %w", err)
	}
	if o.Profiles == nil { // then the environment chooses them
		names, _ := o.LookupEnv(jobfile.EnvProfiles)
		for name := range strings.SplitSeq(names, ",") {
			if name = strings.TrimSpace(name); name != "" {
				o.Profiles = append(o.Profiles, name)
			}
		}
	}
	o.Profiles = append(slices.Clone(o.Profiles), none, own)
	return jobfile.Read(o, append(slices.Clone(paths), path)...)
}

// Close ends etcd and the history at once, and removes what is temporary.
func (s *Store) Close() error {
	var errs []error
	if s.History != nil {
		errs = append(errs, s.History.Close())
	}
	if s.server != nil {
		s.server.Stop()
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Close())
	}
	if s.isTemp && s.Folder != "" {
		errs = append(errs, os.RemoveAll(s.Folder))
	}
	return errors.Join(errs...)
}
