package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// takeDetail takes in all of the one job, with why that may be incomplete or old. The journal has the values that change, by
// their JSON pointers (RFC 6901); null is one that is gone.
func (f *feed) takeDetail(now []byte, doubt fault) error {
	var err error
	f.update(func() {
		if f.isOpening, f.isKnown, f.fault = false, true, doubt; f.detail != nil {
			err = f.journal.compare("", f.detail, now)
		}
		f.detail = now
	})
	return err
}

// compare puts what has changed of a value.
func (j *journal) compare(pointer string, before, now json.RawMessage) error {
	if bytes.Equal(before, now) {
		return nil
	}
	fields, fieldsBefore := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	list, listBefore := []json.RawMessage{}, []json.RawMessage{}
	switch string([]byte{before[0], now[0]}) {
	case "{{":
		if err := unmarshal(pointer, before, &fieldsBefore, now, &fields); err != nil {
			return err
		}
		for name := range fieldsBefore {
			if fields[name] == nil {
				fields[name] = json.RawMessage("null")
			}
		}
		for name, field := range fields {
			below := pointer + "/" + escapes.Replace(name)
			if fieldsBefore[name] == nil {
				j.put(below, field, nil)
			} else if err := j.compare(below, fieldsBefore[name], field); err != nil {
				return err
			}
		}
		return nil
	case "[[":
		if err := unmarshal(pointer, before, &listBefore, now, &list); err != nil {
			return err
		}
		if len(list) != len(listBefore) {
			break
		}
		for i := range list {
			if err := j.compare(pointer+"/"+strconv.Itoa(i), listBefore[i], list[i]); err != nil {
				return err
			}
		}
		return nil
	}
	j.put(pointer, now, nil)
	return nil
}

// escapes are those of a name in a JSON pointer.
var escapes = strings.NewReplacer("~", "~0", "/", "~1")

func unmarshal(pointer string, before json.RawMessage, intoBefore any, now json.RawMessage, into any) error {
	err := json.Unmarshal(before, intoBefore)
	if err == nil {
		err = json.Unmarshal(now, into)
	}
	if err != nil {
		return fmt.Errorf("what has changed of a job: %s: %w", pointer, err)
	}
	return nil
}

// detailPart appends the job, or what of it has changed since the reader's place: whatever is shorter.
func (f *feed) detailPart(b []byte, r *reader, ids cursors) []byte {
	from := r.at
	if r.at = f.journal.last; from == r.at {
		return b
	}
	begin := len(b)
	if r.patches && from > 0 && from < r.at {
		b = f.appendPatch(appendHead(b, eventPatch, ids, r), from)
	}
	if len(b) == begin || len(b) > begin+len(f.detail) {
		b = append(appendHead(b[:begin], eventJob, ids, r), f.detail...)
	}
	return append(b, "\n\n"...)
}

// appendPatch appends what has changed since a place, in the order in which it did: a value replaces those below it.
func (f *feed) appendPatch(b []byte, place uint64) []byte {
	b = append(b, '{')
	first := len(b)
	for e := range f.journal.after(place) {
		if len(b) > first {
			b = append(b, ',')
		}
		b = append(append(appendText(b, e.name), ':'), e.json...)
	}
	return append(b, '}')
}
