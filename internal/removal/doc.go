// Package removal removes jobs from the registry, and the oldest notes of that.
//
// A job that is small goes in one commit. One with a hundred thousand items does not fit into
// one, so it goes in parts:
//
//	configured ──► marked: no configuration ──► parts go ──► nothing is left
//	               removed/{job} stands,            │
//	               and no member may write          └── the process ends: a rest lies about;
//	                                                    whoever removes the job again, or sets
//	                                                    it up again, goes on with that
//
// What has no configuration is no job: nobody assigns its items, and nobody runs them. Every part
// goes on condition that there is still no configuration, so a job of that name that somebody
// creates meanwhile loses nothing.
//
// It is not promised that a rest goes by itself.
package removal
