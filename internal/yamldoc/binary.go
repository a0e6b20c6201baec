package yamldoc

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// IsBinary reports whether a node is a single value in base64.
func IsBinary(n *yaml.Node) bool {
	return n != nil && n.Kind == yaml.ScalarNode && n.ShortTag() == "!!binary"
}

// decodeBinary returns the text that a binary value stands for.
func decodeBinary(n *yaml.Node) (string, error) {
	digits := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1 // it may be broken into lines
		}
		return r
	}, n.Value)
	text, err := base64.StdEncoding.DecodeString(digits)
	if err != nil {
		return "", fmt.Errorf("binary: base64 is allowed: %w", err)
	}
	if !utf8.Valid(text) {
		return "", errors.New("binary: only UTF-8 is allowed")
	}
	return string(text), nil
}
