package api

import (
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"hash/crc32"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// minGzip is how large an answer is at least that is compressed: below that it does not pay. From largeGzip on it is done in
// a third of the time, for a tenth more bytes.
const (
	minGzip   = 8 << 10
	largeGzip = 1 << 20
)

// Compressing has a handler's answer compressed if it is large, by what is written of it first, and the client takes that.
// No answer to a GET has a secret whose length would give it away (BREACH). One whose handler panics has no end.
func Compressing(w http.ResponseWriter, r *http.Request, handle func(http.ResponseWriter)) {
	if r.Method != http.MethodGet {
		handle(w)
		return
	}
	w.Header().Add("Vary", "Accept-Encoding")
	if !TakesGzip(r.Header.Get("Accept-Encoding")) {
		handle(w)
		return
	}
	c := &compressor{ResponseWriter: w, status: http.StatusOK}
	handle(c)
	c.end()
}

// TakesGzip reports whether a header Accept-Encoding has gzip, and does not refuse it by its quality.
func TakesGzip(header string) bool {
	for coding := range strings.SplitSeq(header, ",") {
		name, quality, _ := strings.Cut(strings.ReplaceAll(coding, " ", ""), ";")
		if strings.EqualFold(name, "gzip") {
			return strings.Trim(quality, "q=0.") != "" || quality == ""
		}
	}
	return false
}

// compressor waits with the status until it knows how large the answer is.
type compressor struct {
	http.ResponseWriter
	status int
	begun  bool
	zip    *gzip.Writer // nil if it is not compressed
}

// Unwrap is for http.ResponseController.
func (c *compressor) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *compressor) WriteHeader(status int) { c.status = status }

// begin sends the status, if that was not done yet. size is that of what is written first.
func (c *compressor) begin(size int) error {
	if c.begun {
		return nil
	}
	c.begun = true
	var err error
	if size >= minGzip {
		level := gzip.DefaultCompression
		if size >= largeGzip {
			level = gzip.BestSpeed
		}
		c.zip, err = gzip.NewWriterLevel(c.ResponseWriter, level)
		c.Header().Set("Content-Encoding", "gzip")
	}
	c.ResponseWriter.WriteHeader(c.status)
	return err
}

func (c *compressor) Write(part []byte) (int, error) {
	switch err := c.begin(len(part)); {
	case err != nil:
		return 0, err
	case c.zip == nil:
		return c.ResponseWriter.Write(part)
	}
	return c.zip.Write(part)
}

func (c *compressor) end() {
	_ = c.begin(0) // if there was no body: nothing is compressed then
	if c.zip != nil {
		_ = c.zip.Close() // the client is gone
	}
}

// compressingStream has a stream of events compressed for clients that take gzip. Each write is compressed by itself, with a
// compressor that all streams share: one of each stream's own, which would know what was sent before, takes a megabyte.
func compressingStream(next http.Handler) http.Handler {
	compressors := &sync.Pool{New: func() any {
		c := &pieceCompressor{}
		c.flate, _ = flate.NewWriter(c, flate.DefaultCompression) // which is a level that there is
		return c
	}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.Header().Add("Vary", "Accept-Encoding")
			if TakesGzip(r.Header.Get("Accept-Encoding")) {
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
