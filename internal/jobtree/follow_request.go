package jobtree

import (
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/coord"
)

// followRequest takes in a node of a request. It reports false for all others, and where the
// whole tree has to be read again.
func (r *reader) followRequest(snapshot coord.Snapshot, job Job, n coord.Node, isThere bool) bool {
	path, ok := strings.CutPrefix(n.Path, string(job)+"/"+requests)
	if !ok || r.Config == nil || coord.ValidatePath(n.Path) != nil {
		return false
	}
	if path == "" && isThere {
		r.RequestCount = &n
		return true
	}
	if path, ok = strings.CutPrefix(path, "/"); !ok {
		return false
	}
	id, below, _ := strings.Cut(path, "/")
	at, isKnown := slices.BinarySearchFunc(r.Requests, id, func(r *Request, id string) int { return strings.Compare(r.ID, id) })
	if below == "" {
		return r.followRequestDocument(snapshot, id, n, isThere, at, isKnown)
	}
	i, ok := ParseItem(below)
	if !ok || !isKnown {
		return !isThere
	}
	r.ownRequests()
	request := r.Requests[at]
	if !r.fresh[request] {
		request = request.clone()
		r.Requests[at] = request
		if r.fresh == nil {
			r.fresh = map[*Request]bool{}
		}
		r.fresh[request] = true
	}
	var p *Progress
	if isThere {
		p = decodeProgress(n)
	}
	request.setProgress(i, p)
	return true
}

// ownRequests makes a copy of the list, because a clone of the state has the list itself.
func (r *reader) ownRequests() {
	if !r.ownsRequests {
		r.Requests, r.ownsRequests = slices.Clone(r.Requests), true
	}
}

// followRequestDocument takes in the document of a request that has, or would have, a place.
func (r *reader) followRequestDocument(snapshot coord.Snapshot, id string, n coord.Node, isThere bool, at int, isKnown bool) bool {
	r.ownRequests()
	if !isThere {
		if isKnown {
			r.Requests = slices.Delete(r.Requests, at, at+1)
		}
		return true
	}
	request := decodeRequest(id, n)
	if !isKnown {
		// An external writer may have removed the document alone; then the progress stands already.
		for below := range snapshot.All(n.Path) {
			if i, ok := ParseItem(strings.TrimPrefix(below.Path, n.Path+"/")); ok {
				request.setProgress(i, decodeProgress(below))
			}
		}
		r.Requests = slices.Insert(r.Requests, at, request)
		return true
	}
	if !slices.Equal(request.Items, r.Requests[at].Items) {
		return false
	}
	request.progress = r.Requests[at].progress
	r.Requests[at] = request
	return true
}
