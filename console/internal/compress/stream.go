package compress

import (
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"net/http"
	"slices"
	"sync"
)

// Stream has a stream of events compressed for clients that take gzip. Each write is compressed by itself, with a
// compressor that all streams share: one of each stream's own, which would know what was sent before, takes a megabyte.
func Stream(next http.Handler) http.Handler {
	compressors := &sync.Pool{New: func() any {
		c := &pieceCompressor{}
		c.flate, _ = flate.NewWriter(c, flate.DefaultCompression) // which is a level that there is
		return c
	}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.Header().Add("Vary", "Accept-Encoding")
			if Taken(r.Header.Get("Accept-Encoding")) {
				s := &streamCompressor{ResponseWriter: w, control: http.NewResponseController(w), compressors: compressors}
				defer s.end()
				w = s
			}
		}
		next.ServeHTTP(w, r)
	})
}

// pieceCompressor appends what it compresses to a buffer.
type pieceCompressor struct {
	flate *flate.Writer
	piece []byte
}

func (c *pieceCompressor) Write(p []byte) (int, error) {
	c.piece = append(c.piece, p...)
	return len(p), nil
}

// compress returns a text as DEFLATE blocks that end at a byte, and refer to nothing before them. They stay until the next call.
func (c *pieceCompressor) compress(text []byte) ([]byte, error) {
	c.piece = c.piece[:0]
	c.flate.Reset(c)
	if _, err := c.flate.Write(text); err != nil {
		return nil, err
	}
	err := c.flate.Flush()
	return c.piece, err
}

// streamCompressor compresses an answer if that is a stream of events.
type streamCompressor struct {
	http.ResponseWriter
	control     *http.ResponseController
	compressors *sync.Pool
	begun, zips bool
	hasHead     bool   // the head of the gzip member is written
	sum, size   uint32 // of all that was written, for its end
}

// Unwrap is for http.ResponseController.
func (s *streamCompressor) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func (s *streamCompressor) begin() {
	if s.begun {
		return
	}
	s.begun = true
	if s.zips = s.Header().Get("Content-Type") == "text/event-stream"; s.zips {
		s.Header().Set("Content-Encoding", "gzip")
	}
}

// FlushError is for http.ResponseController.
func (s *streamCompressor) FlushError() error {
	s.begin()
	err := s.control.Flush()
	if err != nil && !s.hasHead { // something else is answered
		s.begun, s.zips = false, false
		s.Header().Del("Content-Encoding")
	}
	return err
}

// gzipHead is that of a member without a name and a time.
var gzipHead = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff}

func (s *streamCompressor) Write(text []byte) (int, error) {
	s.begin()
	if !s.zips {
		return s.ResponseWriter.Write(text)
	}
	c := s.compressors.Get().(*pieceCompressor)
	defer s.compressors.Put(c)
	piece, err := c.compress(text)
	if err != nil {
		return 0, err
	}
	if !s.hasHead {
		piece, s.hasHead = slices.Concat(gzipHead, piece), true
	}
	s.sum = crc32.Update(s.sum, crc32.IEEETable, text)
	s.size += uint32(len(text)) // modulo 2^32, as the format has it
	if _, err := s.ResponseWriter.Write(piece); err != nil {
		return 0, err
	}
	return len(text), nil
}

// end writes the last block, which is empty, and the sums.
func (s *streamCompressor) end() {
	if !s.hasHead {
		return
	}
	end := binary.LittleEndian.AppendUint32([]byte{3, 0}, s.sum)
	_, _ = s.ResponseWriter.Write(binary.LittleEndian.AppendUint32(end, s.size)) // the client is gone
}
