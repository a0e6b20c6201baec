package jobtree

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
)

// readTexts parses a document of up to most bytes, and reads texts of it by their keys; one that
// is missing is empty. It returns the document, for what is no text. An empty one is
// yamldoc.ErrEmpty.
func readTexts(value []byte, most int, texts map[string]*string) (map[string]*yaml.Node, error) {
	if len(value) > most {
		return nil, fmt.Errorf("%d bytes, at most %d are allowed", len(value), most)
	}
	document, err := yamldoc.Parse(value)
	if err != nil {
		return nil, err
	}
	for key, text := range texts {
		if *text, err = yamldoc.Text(document[key]); err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
	}
	return document, nil
}

// parseSwitch reads true or false; nothing is false.
func parseSwitch(text string) (bool, error) {
	switch text {
	case "", "false":
		return false, nil
	case "true":
		return true, nil
	}
	return false, errors.New("true and false are allowed")
}
