package jvmmember_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
)

// write is one change in a ZooKeeper server's transaction log.
type write struct {
	session coord.SessionID // who has written it
	text    string          // +path=value, with ! if it is ephemeral; ~path=value; -path; xpath if a session has ended
}

// The kinds of transactions, by the numbers of ZooKeeper's protocol.
const (
	txnError           = -1
	txnCloseSession    = -11
	txnCreate          = 1
	txnDelete          = 2
	txnSetData         = 5
	txnCheck           = 13
	txnMulti           = 14
	txnCreate2         = 15
	txnCreateContainer = 19
	txnDeleteContainer = 20
	txnCreateTTL       = 21
)

// readLogs returns what was written below a path, in the order of the server.
func readLogs(t testing.TB, folder, below string) []write {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "log.*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no transaction logs in %s: %v", folder, err)
	}
	var all []write
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		writes, err := readLog(data, below)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, writes...)
	}
	return all
}

// readLog reads a log: a header of 16 bytes, then for each transaction its checksum, its length,
// the transaction and one byte. The rest of the file is zero.
func readLog(data []byte, below string) ([]write, error) {
	var writes []write
	if len(data) < 16 || string(data[:4]) != "ZKLG" {
		return nil, errors.New("not a transaction log")
	}
	for data = data[16:]; len(data) >= 12; {
		length := int(binary.BigEndian.Uint32(data[8:12]))
		if length == 0 || len(data) < 12+length+1 {
			break
		}
		r := &jute{data: data[12 : 12+length]}
		data = data[12+length+1:]
		session := coord.SessionID(r.long())
		r.int()  // cxid
		r.long() // zxid
		r.long() // time
		var texts []string
		r.txn(r.int(), &texts)
		if r.err != nil {
			return nil, r.err
		}
		for _, text := range fold(texts) {
			if path, ok := strings.CutPrefix(text[1:], below); ok && (path == "" || path[0] == '/' || path[0] == '=') {
				writes = append(writes, write{session, text[:1] + strings.TrimPrefix(path, "/")})
			}
		}
	}
	return writes, nil
}

// fold puts the creation of a node and its first write in the same transaction together: so our
// adapter creates a node.
func fold(texts []string) []string {
	created := make(map[string]int)
	var folded []string
	for _, text := range texts {
		path, value, has := strings.Cut(text[1:], "=")
		i, ok := created[path]
		switch {
		case text[0] == '+':
			created[strings.TrimSuffix(path, "!")] = len(folded)
			folded = append(folded, text)
		case text[0] != '~' || !ok:
			folded = append(folded, text)
		case has:
			head, ephemeral := strings.CutSuffix(folded[i], "!")
			folded[i] = head + "=" + value
			if ephemeral {
				folded[i] += "!"
			}
		}
	}
	return folded
}

// jute reads ZooKeeper's encoding.
type jute struct {
	data []byte
	err  error
}

func (r *jute) take(n int) []byte {
	if n < 0 || n > len(r.data) {
		r.data, r.err = nil, errors.New("a transaction ends too early")
		return make([]byte, max(n, 0))
	}
	taken := r.data[:n]
	r.data = r.data[n:]
	return taken
}

func (r *jute) int() int    { return int(int32(binary.BigEndian.Uint32(r.take(4)))) }
func (r *jute) long() int64 { return int64(binary.BigEndian.Uint64(r.take(8))) }

// buffer reads bytes or a text; a length of -1 means none.
func (r *jute) buffer() string {
	n := r.int()
	if n < 0 || r.err != nil {
		return ""
	}
	return string(r.take(n))
}

func (r *jute) acl() {
	for range max(r.int(), 0) {
		r.int()
		r.buffer()
		r.buffer()
	}
}

// txn reads one transaction, or the part of one, and adds what it has changed.
func (r *jute) txn(kind int, texts *[]string) {
	add := func(sign, path, value string) {
		if value != "" {
			value = "=" + value
		}
		*texts = append(*texts, sign+path+value)
	}
	switch kind {
	case txnCreate, txnCreate2:
		path, value := r.buffer(), r.buffer()
		r.acl()
		if r.take(1)[0] == 0 {
			add("+", path, value)
		} else if value == "" {
			add("+", path+"!", "")
		} else {
			add("+", path, value+"!")
		}
	case txnCreateContainer, txnCreateTTL:
		add("+", r.buffer(), r.buffer())
	case txnDelete, txnDeleteContainer:
		add("-", r.buffer(), "")
	case txnSetData:
		add("~", r.buffer(), r.buffer())
	case txnCloseSession:
		if len(r.data) < 4 {
			return
		}
		for range max(r.int(), 0) {
			add("x", r.buffer(), "")
		}
	case txnMulti:
		var parts []string
		failed := false
		for range max(r.int(), 0) {
			kind, part := r.int(), &jute{data: []byte(r.buffer())}
			failed = failed || kind == txnError
			if kind == txnCheck {
				continue
			}
			part.txn(kind, &parts)
			if part.err != nil {
				r.err = fmt.Errorf("part of a transaction: %w", part.err)
			}
		}
		if !failed { // of one that failed the log has the parts, too
			*texts = append(*texts, parts...)
		}
	}
}
