package dump

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// speak answers a client that speaks ElasticJob's line.
func (s *Service) speak(ctx context.Context, c net.Conn) {
	if c.SetReadDeadline(time.Now().Add(askTime)) != nil {
		return // it is closed
	}
	line, err := readLine(bufio.NewReaderSize(c, maxLine))
	ctx, cancel := context.WithTimeoutCause(ctx, workTime, errTooLong)
	defer cancel()
	var answer bytes.Buffer
	if err == nil {
		var leave func()
		if leave, err = enter(ctx, s.answers); err == nil {
			defer leave()                           // when the client has read the answer
			command, _, _ := strings.Cut(line, "@") // what follows may be a token
			err = s.guarded(command, func() error { return s.obey(ctx, line, &answer) })
		}
	}
	if err != nil {
		answer.WriteString(complaint(err))
	}
	if err := c.SetWriteDeadline(time.Now().Add(answerTime)); err != nil {
		return // it is closed
	}
	if _, err := answer.WriteTo(c); err != nil {
		return // the client has gone, or does not read
	}
	part(c)
}

// part closes a connection in order. If it were closed before all that the client has sent is read,
// it would be reset, and the client could lose the answer.
func part(c net.Conn) {
	half, ok := c.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil || c.SetReadDeadline(time.Now().Add(partingTime)) != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, c, maxTail) // until the client closes it, or its time is over
}

// readLine reads a line, or what there is if the client sends no more.
func readLine(r *bufio.Reader) (string, error) {
	line, err := r.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return "", fmt.Errorf("dump: the line has more than %d bytes", maxLine)
	case err != nil && !errors.Is(err, io.EOF):
		return "", errors.New("dump: the line has not come in time")
	}
	return strings.TrimRight(string(line), "\r\n"), nil
}

// obey does what a line says.
func (s *Service) obey(ctx context.Context, line string, answer *bytes.Buffer) error {
	name, args, ok := strings.Cut(line, "@")
	if s.options.Token != "" {
		i := strings.LastIndexByte(args, '@')
		if !s.admits(args[i+1:]) {
			return fmt.Errorf("dump: %w: a line is command@arguments@token", ErrDenied)
		}
		args = args[:max(i, 0)]
	}
	switch {
	case !ok:
		return fmt.Errorf("dump: %s: a line is command@arguments, such as dump@settle", brief.Quote(line))
	case name == dumpName:
		d, err := s.dump(ctx, args, true)
		if err != nil {
			return err
		}
		return d.WriteText(answer)
	}
	text, err := s.run(ctx, name, args)
	answer.Write(text)
	return err
}
