package jobtree

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
)

// CursorDocument is the value of a cursor's node: how far an item has come.
type CursorDocument struct {
	// Position is the text that the handler has given.
	Position string
	// Token is the fencing token of the execution that has written it, and Number says how
	// many that execution had written before. The two name one write: after an unknown outcome
	// they tell whether it happened.
	Token  int64
	Number int
	// Moved is when, by the clock of the instance.
	Moved time.Time
}

// maxCursorDocument bounds the value of a cursor's node, in bytes. A byte of a position takes
// up to six.
const maxCursorDocument = 128 << 10

// EncodeCursor writes the value of a cursor's node.
func EncodeCursor(d CursorDocument) ([]byte, error) {
	document, err := yaml.Marshal(struct {
		Position quoted `yaml:"position"`
		Token    int64  `yaml:"token"`
		Number   int    `yaml:"number"`
		Moved    string `yaml:"moved"`
	}{quoted(d.Position), d.Token, d.Number, string(EncodeFired(d.Moved))})
	if err != nil {
		return nil, fmt.Errorf("cursor: %w", err)
	}
	return document, nil
}

// DecodeCursor reads the value of a cursor's node. It ignores unknown keys.
func DecodeCursor(value []byte) (CursorDocument, error) {
	d, err := decodeCursor(value)
	if err != nil {
		return CursorDocument{}, fmt.Errorf("cursor: %w", err)
	}
	return d, nil
}

func decodeCursor(value []byte) (d CursorDocument, err error) {
	var token, number, moved string
	texts := map[string]*string{"position": &d.Position, "token": &token, "number": &number, "moved": &moved}
	if _, err := readTexts(value, maxCursorDocument, texts); errors.Is(err, yamldoc.ErrEmpty) {
		return d, nil
	} else if err != nil {
		return d, err
	}
	if token != "" {
		if d.Token, err = strconv.ParseInt(token, 10, 64); err != nil {
			return d, errors.New("token: an integer is allowed")
		}
	}
	if number != "" {
		if d.Number, err = strconv.Atoi(number); err != nil {
			return d, errors.New("number: an integer is allowed")
		}
	}
	d.Moved, err = parseTime(moved)
	if err != nil {
		return d, fmt.Errorf("moved: %w", err)
	}
	return d, nil
}
