package connection

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Keys encrypt the passwords that a book writes into its file, with AES-256-GCM.
type Keys struct {
	all []cipher.AEAD // the first one encrypts
}

const (
	sealedPrefix = "enc:v1:"
	keySize      = 32
	maxKeys      = 10
)

// NewKey returns a key as [ParseKeys] reads it.
func NewKey() string {
	key := make([]byte, keySize)
	rand.Read(key) // it never fails
	return base64.StdEncoding.EncodeToString(key)
}

// ParseKeys reads keys, one in each line: 32 random bytes in base64. The first one encrypts, all
// decrypt: to change a key, put the new one above it, call [Book.Reseal], and then remove the old one.
// Lines that are empty or begin with # do not count.
func ParseKeys(text string) (*Keys, error) {
	k := &Keys{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		key, err := base64.StdEncoding.DecodeString(line)
		if err != nil || len(key) != keySize { // the error would quote the key
			return nil, fmt.Errorf("line %d: no key; allowed are %d bytes in base64, such as `head -c %d /dev/urandom | base64` prints", number, keySize, keySize)
		}
		if len(k.all) == maxKeys {
			return nil, fmt.Errorf("line %d: allowed are %d keys", number, maxKeys)
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, err
		}
		k.all = append(k.all, aead)
	}
	if len(k.all) == 0 {
		return nil, fmt.Errorf("there is no key; allowed are lines of %d bytes in base64", keySize)
	}
	return k, nil
}

// Format keeps every verb from printing the keys.
func (k *Keys) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, masked) } // fmt keeps its errors to itself

// seal encrypts a secret for a destination: it cannot be decrypted for another one.
func (k *Keys) seal(plain, destination string) stored {
	return stored(sealedPrefix + base64.StdEncoding.EncodeToString(k.all[0].Seal(nil, nil, []byte(plain), []byte(destination))))
}

// unseal decrypts what seal returns.
func (k *Keys) unseal(s stored, destination string) (string, error) {
	if k == nil {
		return "", errors.New("it is encrypted, and there is no key")
	}
	sealed, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(string(s), sealedPrefix))
	if err != nil {
		return "", fmt.Errorf("it begins with %s, but no base64 follows", sealedPrefix)
	}
	for _, key := range k.all {
		if plain, err := key.Open(nil, nil, sealed, []byte(destination)); err == nil {
			return string(plain), nil
		}
	}
	return "", errors.New("no key decrypts it: it is of another key, or name, kind, endpoints, user or TLS of the entry were changed beside it; give it again")
}

// isCurrent reports whether the first key has encrypted a secret.
func (k *Keys) isCurrent(s stored, destination string) bool {
	_, err := (&Keys{k.all[:1]}).unseal(s, destination)
	return err == nil
}

func isSealed(text string) bool { return strings.HasPrefix(text, sealedPrefix) }
