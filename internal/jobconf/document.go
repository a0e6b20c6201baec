package jobconf

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
)

const (
	// MaxSize bounds a document in bytes. A node of every store holds that much, and a commit that writes
	// it has room for more.
	MaxSize = coord.MaxCommitBytes - 64<<10
	// MaxText bounds a name other than the job's, and a label, in bytes.
	MaxText = 255
)

// Parse reads a document: the values by key. It refuses one that is larger than MaxSize.
func Parse(document []byte) (map[string]*yaml.Node, error) {
	if err := CheckSize(len(document)); err != nil {
		return nil, err
	}
	return yamldoc.Parse(document)
}

// CheckSize checks the size of a document.
func CheckSize(bytes int) error {
	if bytes > MaxSize {
		return fmt.Errorf("configuration of %d bytes, at most %d are allowed", bytes, MaxSize)
	}
	return nil
}

// CheckText checks a name or a label.
func CheckText(text string, most int) error {
	switch {
	case text == "":
		return fmt.Errorf("is empty; 1 to %d bytes of UTF-8 are allowed", most)
	case len(text) > most:
		return fmt.Errorf("%d bytes, at most %d are allowed", len(text), most)
	case !utf8.ValidString(text):
		return errors.New("only UTF-8 is allowed")
	}
	return nil
}
