package connection

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

// followEvery is how often a book looks whether somebody has changed its file.
const followEvery = 2 * time.Second

// follow adopts the file when somebody has changed it, until the book is closed. What is found has to be
// the same twice, because not everybody writes a file at once.
func (b *Book) follow() {
	var before []byte
	for sleep.For(b.life, followEvery) {
		select {
		case b.turn <- struct{}{}:
			before = b.look(before)
			<-b.turn
		case <-b.life.Done():
		}
	}
}

// look looks at the file once, and returns what it has. before is what it had the last time. Nobody in this
// process changes it meanwhile.
func (b *Book) look(before []byte) []byte {
	content, ok, err := load(b.o.File)
	b.mu.Lock()
	isOld, wasThere := bytes.Equal(content, b.content), b.content != nil
	b.mu.Unlock()
	switch {
	case err != nil:
	case !ok && wasThere:
		err = errors.New("it is not there any more")
	case isOld:
	case before != nil && bytes.Equal(content, before):
		err = b.adopt(content)
	default:
		return content
	}
	b.setFault(err)
	return content
}

// setFault notes what is wrong with the file. The log is told when that changes.
func (b *Book) setFault(err error) {
	if err != nil {
		err = fmt.Errorf("connection: file %s: %w; what it had before still counts", b.o.File, brief.Error(err))
	}
	b.mu.Lock()
	old := b.fault
	b.fault = err
	b.mu.Unlock()
	switch {
	case err != nil && (old == nil || old.Error() != err.Error()):
		b.o.Slog.Error("the file of connections cannot be used", "error", err)
	case err == nil && old != nil:
		b.o.Slog.Info("the file of connections can be used again", "file", b.o.File)
	}
}

// Fault returns why the file cannot be used since somebody has changed it; nil if all is well. What it
// had before counts until then, and nothing can be put.
func (b *Book) Fault() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.fault
}
