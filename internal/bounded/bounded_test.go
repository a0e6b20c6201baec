package bounded_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/bounded"
)

func TestRead(t *testing.T) {
	for text, want := range map[string]string{"": "", "1234": "", "12345": "more than 4 bytes"} {
		got, err := bounded.Read(strings.NewReader(text), 4)
		if want == "" && (err != nil || string(got) != text) || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	if got, err := bounded.Start(strings.NewReader("12345"), 4); err != nil || string(got) != "1234" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, info, err := bounded.File(path, 5); err != nil || string(text) != "12345" || info.Size() != 5 {
		t.Errorf("%q, %v", text, err)
	}
	for path, want := range map[string]string{path: "more than 4 bytes", path + "x": "no such file", t.TempDir(): "no regular file"} {
		if _, _, err := bounded.File(path, 4); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
