package script

import (
	"bytes"
	"unicode/utf8"
)

// tail keeps the last bytes of what is written to it.
type tail struct {
	most int
	text []byte // up to twice as many: then the first half goes
}

func (t *tail) add(text []byte) {
	text = text[max(0, len(text)-t.most):]
	if len(t.text)+len(text) > 2*t.most {
		t.text = append(t.text[:0], t.text[len(t.text)-(t.most-len(text)):]...)
	}
	t.text = append(t.text, text...)
}

// String returns at most that many bytes, as valid UTF-8.
func (t *tail) String() string {
	text := t.text[max(0, len(t.text)-t.most):]
	for cut := 0; cut < utf8.UTFMax-1 && len(text) > 0 && !utf8.RuneStart(text[0]); cut++ {
		text = text[1:] // the rest of a character that was cut
	}
	return string(bytes.ToValidUTF8(text, []byte("?")))
}
