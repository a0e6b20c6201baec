package yamldoc

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// byteOrderMark is a character of texts, but for the beginning of a document. The YAML reader may
// pass over the first characters of lines behind one, depending on where in its buffer that stands.
const byteOrderMark = "\ufeff"

// Characters for private use. As UTF-8 they are as long as a byte order mark, so nothing moves.
const firstPrivate, lastPrivate = '\ue000', '\uf8ff'

// withoutMarks returns a document with another character in the place of its byte order marks, and
// that character. It is empty if nothing had to be done.
func withoutMarks(text []byte) (_ []byte, stand string) {
	if at := bytes.LastIndex(text, []byte(byteOrderMark)); at <= 0 {
		return text, ""
	}
	digits := bytes.ToLower(text)
	var isThere [lastPrivate - firstPrivate + 1]bool
	for i := 0; i < len(digits); {
		r, size := utf8.DecodeRune(digits[i:])
		if firstPrivate <= r && r <= lastPrivate {
			isThere[r-firstPrivate] = true
		}
		i += size
	}
	const most = 100 // that are looked for; a document that has all of them is made to have them
	for r := firstPrivate; r < firstPrivate+most; r++ {
		// It may also stand there by its number.
		if isThere[r-firstPrivate] || bytes.Contains(digits, fmt.Appendf(nil, "%x", r)) {
			continue
		}
		stand = string(r)
		rest := bytes.TrimPrefix(text, []byte(byteOrderMark))
		start := text[:len(text)-len(rest)]
		return append(bytes.Clone(start), bytes.ReplaceAll(rest, []byte(byteOrderMark), []byte(stand))...), stand
	}
	return text, ""
}

// bringMarksBack puts byte order marks where withoutMarks has taken them away.
func bringMarksBack(n *yaml.Node, stand string) {
	for _, text := range []*string{&n.Value, &n.Tag, &n.Anchor, &n.HeadComment, &n.LineComment, &n.FootComment} {
		*text = strings.ReplaceAll(*text, stand, byteOrderMark)
	}
	for _, child := range n.Content {
		bringMarksBack(child, stand)
	}
}
