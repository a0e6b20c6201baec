package live

import (
	"bytes"
	"encoding/json"
	"time"
)

// Event names. An event has one line of data, a JSON object.
const (
	eventReset  = "reset"  // forget all jobs; the first of those that there are
	eventUpdate = "update" // jobs that are new or have changed, and names of those that are removed
	eventJob    = "job"    // all of one job
	eventPatch  = "patch"  // what has changed of one job
	eventFault  = "fault"  // why what was told may be incomplete or old
	eventBye    = "bye"    // the last one
)

// Codes of the last event.
const (
	codeClosing = "closing" // the console ends
	codeDenied  = "denied"  // the caller may not listen any more
	codeRights  = "rights"  // he may do more, or less
	codeRemoved = "removed" // the job, or the namespace, is gone
)

const (
	retryLine = "retry: 2000\n\n" // how long a browser waits before it comes again, in milliseconds
	// heartbeat is an event, for browsers do not tell their pages of comments.
	heartbeat = "event: beat\ndata: {}\n\n"
)

// appendEvent appends an event without id.
func appendEvent(b []byte, name string, data any) []byte {
	text, err := json.Marshal(data)
	if err != nil {
		text = []byte("{}") // two texts can always be written
	}
	b = append(append(append(b, "event: "...), name...), "\ndata: "...)
	return append(append(b, text...), "\n\n"...)
}

// appendHead appends what stands before the data of an event, with the id of the place to which a reader has come.
func appendHead(b []byte, name string, ids cursors, r *reader) []byte {
	b = append(append(append(b, "event: "...), name...), "\nid: "...)
	return append(ids.append(b, r.at, r.mark), "\ndata: "...)
}

func appendFault(b []byte, f fault) []byte {
	return appendEvent(b, eventFault, struct {
		Fault string    `json:"fault"`
		Since time.Time `json:"since,omitzero"`
	}{f.why, f.since.UTC()})
}

func appendBye(b []byte, code, reason string) []byte {
	return appendEvent(b, eventBye, struct {
		Code   string `json:"code"`
		Reason string `json:"reason"`
	}{code, reason})
}

// appendJobs appends the data of a reset or update.
func appendJobs(b []byte, part []*entry, isMore bool) []byte {
	b = append(b, '{')
	first := len(b)
	list := func(name string, isRemoved bool) {
		isOpen := false
		for _, e := range part {
			switch {
			case (e.json == nil) != isRemoved:
				continue
			case isOpen:
				b = append(b, ',')
			default:
				if len(b) > first {
					b = append(b, ',')
				}
				b = append(append(append(b, '"'), name...), `":[`...)
				isOpen = true
			}
			if isRemoved {
				b = appendText(b, e.name)
			} else {
				b = append(b, e.json...)
			}
		}
		if isOpen {
			b = append(b, ']')
		}
	}
	list("jobs", false)
	list("removed", true)
	if isMore {
		if len(b) > first {
			b = append(b, ',')
		}
		b = append(b, `"more":true`...)
	}
	return append(b, '}')
}

// appendText appends a JSON string.
func appendText(b []byte, text string) []byte {
	quoted, err := json.Marshal(text)
	if err != nil {
		quoted = []byte(`""`) // any string can be written
	}
	return append(b, quoted...)
}

// oneLine returns a JSON text without line breaks.
func oneLine(text []byte) ([]byte, error) {
	if !bytes.ContainsAny(text, "\r\n") {
		return text, nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
