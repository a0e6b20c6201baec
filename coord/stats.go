package coord

// CommitStats says how a registry has sent its commits since it was opened. A registry that
// sends several in one request has a method CommitStats that returns it; that of package etcd
// does.
type CommitStats struct {
	// Groups[n] is how many requests had n commits. A commit that is tried again counts again.
	Groups []int64
	// Waiting is how many commits wait now to be sent.
	Waiting int
}
