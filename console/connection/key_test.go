package connection

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func keys(t rapid.TB, lines ...string) *Keys {
	t.Helper()
	k, err := ParseKeys(strings.Join(lines, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// What is sealed comes back for the same destination with a key that sealed it, and never otherwise.
func TestSeal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plain, to := rapid.String().Draw(t, "plain"), rapid.String().Draw(t, "destination")
		one, two := NewKey(), NewKey()
		sealed := keys(t, one).seal(plain, to)
		if sealed == keys(t, one).seal(plain, to) {
			t.Error("sealed twice in the same way")
		}
		if got, err := keys(t, one).unseal(sealed, to); err != nil || got != plain {
			t.Errorf("got %q, %v", got, err)
		}
		if got, err := keys(t, two, "# old", "", one).unseal(sealed, to); err != nil || got != plain {
			t.Errorf("with a newer key: %q, %v", got, err)
		}
		if keys(t, two, one).isCurrent(sealed, to) || !keys(t, one, two).isCurrent(sealed, to) {
			t.Error("it is not known which key has sealed it")
		}
		if got, err := keys(t, two).unseal(sealed, to); err == nil {
			t.Errorf("with another key: %q", got)
		}
		if got, err := keys(t, one).unseal(sealed, to+"x"); err == nil {
			t.Errorf("for another destination: %q", got)
		}
		broken := []byte(sealed)
		i := rapid.IntRange(len(sealedPrefix), len(broken)-1).Draw(t, "broken")
		broken[i] ^= byte(rapid.IntRange(1, 255).Draw(t, "with"))
		if got, err := keys(t, one).unseal(stored(broken), to); err == nil && got != plain {
			t.Errorf("broken: %q", got)
		}
	})
}

func TestParseKeys(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "a comment": "# a\n\n", "too short": "aGVsbG8=", "no base64": "hunter2-and-more",
		"too many": strings.Repeat(NewKey()+"\n", maxKeys+1),
	} {
		if k, err := ParseKeys(text); err == nil {
			t.Errorf("%s: %v", name, k)
		} else if text != "" && strings.Contains(err.Error(), strings.TrimSpace(text)) && name != "a comment" {
			t.Errorf("%s: shows it: %v", name, err)
		}
	}
	var none *Keys
	if _, err := none.unseal("enc:v1:AAAA", ""); err == nil {
		t.Error("unsealed without a key")
	}
}
