package zkserver

import (
	"errors"
	"fmt"
	"os"
)

// Where a server keeps its data, and where Save puts a copy.
const (
	dataFolder  = "version-2"
	savedFolder = "saved"
)

// Data returns the folder of the server's snapshots and transaction logs. The logs hold every
// write as soon as it is acknowledged.
func (s *Server) Data() string { return s.path(dataFolder) }

// Save keeps a copy of the server's data as it is now, for PutBack.
func (s *Server) Save() error {
	if err := errors.Join(os.RemoveAll(s.path(savedFolder)), os.CopyFS(s.path(savedFolder), os.DirFS(s.path(dataFolder)))); err != nil {
		return fmt.Errorf("save the data of the ZooKeeper server at %s: %w", s.Addr(), err)
	}
	return nil
}

// PutBack makes what was saved the data of a server that was stopped.
func (s *Server) PutBack() error {
	if err := s.Wipe(); err != nil {
		return err
	}
	if err := os.CopyFS(s.path(dataFolder), os.DirFS(s.path(savedFolder))); err != nil {
		return fmt.Errorf("put back the data of the ZooKeeper server at %s: %w", s.Addr(), err)
	}
	return nil
}

// Wipe removes the data of a server that was stopped.
func (s *Server) Wipe() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd != nil {
		return fmt.Errorf("the ZooKeeper server at %s runs", s.Addr())
	}
	if err := os.RemoveAll(s.path(dataFolder)); err != nil {
		return fmt.Errorf("wipe the ZooKeeper server at %s: %w", s.Addr(), err)
	}
	return nil
}
