package access

import (
	"errors"
	"strings"
	"testing"
)

func TestHash(t *testing.T) {
	h := NewHash(password)
	if err := h.Validate(); err != nil || !strings.HasPrefix(string(h), "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("%q: %v", string(h), err)
	}
	if h == NewHash(password) {
		t.Error("two hashes are the same: there is no salt")
	}
	if !h.fits(password) || h.fits(password+"x") || h.fits("") {
		t.Error("it fits what it should not, or does not fit")
	}
}

// The hash was made by libxcrypt. bcrypt looks at 72 bytes: a longer password would be right whatever follows them.
func TestBcrypt(t *testing.T) {
	const h Hash = "$2y$10$abcdefghijklmnopqrstuuBdMhrQiP4bPYDcUWeDf3U8k2yaLqgzu"
	long := strings.Repeat("ab12", 18)
	if err := h.Validate(); err != nil || !h.fits(long) || h.fits(long[1:]) || h.fits(long+"x") {
		t.Errorf("it fits what it should not, or does not fit: %v", err)
	}
}

func TestHashRefuses(t *testing.T) {
	const salt, key = "c29tZXNhbHRzb21lc2FsdA", "VmIyDtHR6tyzHEMMDrRNWEv4r9fmSMcj2hQDkgKmRnc"
	argonOf := func(parameters string) string { return "$argon2id$v=19$" + parameters + "$" + salt + "$" + key }
	for name, tt := range map[string]struct{ hash, want string }{
		"nothing":         {"", "allowed are"},
		"a password":      {"hunter2", "allowed are"},
		"argon2i":         {"$argon2i$v=19$m=19456,t=2,p=1$" + salt + "$" + key, "allowed are"},
		"version":         {"$argon2id$v=16$m=19456,t=2,p=1$" + salt + "$" + key, "version"},
		"no version":      {"$argon2id$m=19456,t=2,p=1$" + salt + "$" + key, "allowed are"},
		"too much memory": {argonOf("m=131073,t=1,p=1"), "m is not"},
		"no memory":       {argonOf("m=7167,t=10,p=1"), "m is not"},
		"overflow":        {argonOf("m=4294967296,t=1,p=1"), "m is not"},
		"sign":            {argonOf("m=+19456,t=2,p=1"), "m is not"},
		"many passes":     {argonOf("m=19456,t=11,p=1"), "t is not"},
		"no passes":       {argonOf("m=131072,t=0,p=1"), "t is not"},
		"no threads":      {argonOf("m=19456,t=2,p=0"), "p is not"},
		"many threads":    {argonOf("m=19456,t=2,p=9"), "p is not"},
		"weak":            {argonOf("m=19456,t=1,p=1"), "too weak"},
		"order":           {argonOf("t=2,m=19456,p=1"), "m is not"},
		"more":            {argonOf("m=19456,t=2,p=1,x=1"), "parameters"},
		"short salt":      {"$argon2id$v=19$m=19456,t=2,p=1$YWJj$" + key, "salt"},
		"short key":       {"$argon2id$v=19$m=19456,t=2,p=1$" + salt + "$YWJj", "its hash"},
		"long key":        {"$argon2id$v=19$m=19456,t=2,p=1$" + salt + "$" + strings.Repeat("A", 88), "its hash"},
		"padding":         {"$argon2id$v=19$m=19456,t=2,p=1$" + salt + "==$" + key, "salt"},
		"line":            {"$argon2id$v=19$m=19456,t=2,p=1$" + salt + "$" + key + "\n", "its hash"},
		"cheap bcrypt":    {"$2a$09$" + strings.Repeat("a", 53), "cost"},
		"dear bcrypt":     {"$2a$15$" + strings.Repeat("a", 53), "cost"},
		"cut bcrypt":      {"$2a$10$aaaa", "bcrypt"},
	} {
		err := Hash(tt.hash).Validate()
		if !errors.Is(err, ErrHash) || !strings.Contains(err.Error(), tt.want) || tt.hash != "" && strings.Contains(err.Error(), tt.hash) {
			t.Errorf("%s: %v", name, err)
		}
		if h := Hash(tt.hash); !h.isBcrypt() && h.fits("") {
			t.Errorf("%s fits no password", name)
		}
	}
}

// A hash that can be read is written again as it was, and is within its bounds.
func FuzzHash(f *testing.F) {
	f.Add("$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$VmIyDtHR6tyzHEMMDrRNWEv4r9fmSMcj2hQDkgKmRnc")
	f.Add("$2y$12$aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")
	f.Add(string(nobody))
	f.Fuzz(func(t *testing.T, text string) {
		h := Hash(text)
		err := h.Validate()
		if err != nil && len(err.Error()) > 500 {
			t.Errorf("a long error: %v", err)
		}
		if err != nil || h.isBcrypt() {
			return
		}
		a, err := h.argon()
		if err != nil || a.memory > maxMemory || a.passes > maxPasses || a.threads > maxThreads || int(a.memory*a.passes) < minWork || len(a.salt) > maxSalt || len(a.key) > maxKey {
			t.Fatalf("%+v, %v", a, err)
		}
		again, err := a.hash().argon()
		if err != nil || again.hash() != a.hash() {
			t.Fatalf("%q is written as %q: %v", text, string(a.hash()), err)
		}
	})
}

func TestCheckPassword(t *testing.T) {
	for _, tt := range []struct{ name, password, want string }{
		{"anna", "plum-Kettle-77-x", ""},
		{"anna", "correct horse battery", ""},
		{"anna", "8391-2847-1294", ""},
		{"anna", "839128471294", ""},
		{"anna", strings.Repeat("pfläume9", 25), ""},
		{"a", "abstract-apples-7", ""},
		{"anna", "short", "5 bytes"},
		{"anna", "", "0 bytes"},
		{"anna", strings.Repeat("abcdefgh", 33), "264 bytes"},
		{"anna", "plum-Kettle\x00-77", "control"},
		{"anna", "plum-Kettle\xff-77", "UTF-8"},
		{"anna", "aaaaaaaaaaaaaa", "different signs"},
		{"anna", "abababababab1", "different signs"},
		{"anna", "123456789012", "follow each other"},
		{"anna", "9876543210987654", "follow each other"},
		{"anna", "qwertyuiopasdf", "follow each other"},
		{"anna", "abcdefghijklmnop", "follow each other"},
		{"anna", "1qaz2wsx3edc4rfv", "follow each other"},
		{"anna", "Password12345", "many have it"},
		{"anna", "passwordpassword", "many have it"},
		{"anna", "P@ssw0rd!2024", "many have it"},
		{"anna", "administrator1", "many have it"},
		{"anna", "adminadmin123", "many have it"},
		{"anna", "changeme-2026", "many have it"},
		{"anna", "Elasticjob2026!", "many have it"},
		{"operations", "Operations-123", "the name"},
		{"anna-maria", "anna-maria1anna-maria2", "the name"},
	} {
		err := CheckPassword(tt.name, tt.password)
		if tt.want == "" {
			if err != nil {
				t.Errorf("%q: %v", tt.password, err)
			}
			continue
		}
		if !errors.Is(err, ErrPassword) || !strings.Contains(err.Error(), tt.want) || tt.password != "" && strings.Contains(err.Error(), tt.password) {
			t.Errorf("%q: %v, want %s", tt.password, err, tt.want)
		}
	}
}
