package api

import (
	"compress/gzip"
	"net/http"
	"strings"
)

// minGzip is how large an answer is at least that is compressed: below that it does not pay. From largeGzip on it is done in
// a third of the time, for a tenth more bytes.
const (
	minGzip   = 8 << 10
	largeGzip = 1 << 20
)

// Compressing has a handler's answer compressed if it is large and the client takes that. An answer of an operation is
// written at once ([format]). No answer to a GET has a secret whose length would give it away (BREACH).
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
	c.begin(false) // if there was no body
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
	status       int
	begun, isZip bool
}

// Unwrap is for http.ResponseController.
func (c *compressor) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *compressor) WriteHeader(status int) { c.status = status }

func (c *compressor) begin(isZip bool) {
	if c.begun {
		return
	}
	c.begun, c.isZip = true, isZip
	if isZip {
		c.Header().Set("Content-Encoding", "gzip")
	}
	c.ResponseWriter.WriteHeader(c.status)
}

func (c *compressor) Write(answer []byte) (int, error) {
	c.begin(len(answer) >= minGzip)
	if !c.isZip {
		return c.ResponseWriter.Write(answer)
	}
	level := gzip.DefaultCompression
	if len(answer) >= largeGzip {
		level = gzip.BestSpeed
	}
	z, err := gzip.NewWriterLevel(c.ResponseWriter, level) // what is written again is another member of the same stream
	if err != nil {
		return 0, err
	}
	n, err := z.Write(answer)
	if err == nil {
		err = z.Close()
	}
	return n, err
}
