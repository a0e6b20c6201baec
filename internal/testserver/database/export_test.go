package database

// Folder is where a server keeps its data.
func (s *Server) Folder() string { return s.folder }

// Pid is the id of the process of a running server.
func (s *Server) Pid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cmd.Process.Pid
}
