package access

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"
)

// Hash is what the users file keeps of a password: argon2id in the form of the PHC string format,
//
//	$argon2id$v=19$m=19456,t=2,p=1$c2FsdA…$aGFzaA…
//
// or bcrypt ($2a$, $2b$ and $2y$, as htpasswd -B writes it). It is a secret all the same: who has it can guess.
type Hash string

// String keeps the hash out of logs.
func (h Hash) String() string {
	if h == "" {
		return ""
	}
	return "***"
}

// GoString does, too.
func (h Hash) GoString() string { return h.String() }

// MarshalJSON keeps it out of answers.
func (h Hash) MarshalJSON() ([]byte, error) { return []byte(strconv.Quote(h.String())), nil }

// What new hashes are made with: the least that OWASP's password storage cheat sheet recommends.
const (
	argonMemory  = 19 << 10 // KiB
	argonPasses  = 2
	argonThreads = 1
	saltBytes    = 16
	keyBytes     = 32
)

// Bounds of hashes that are read. OWASP counts as equal 46 MiB in one pass, 19 in 2, 12 in 3, 9 in 4 and 7 in 5:
// so many KiB times passes are the least.
const (
	minMemory, maxMemory = 7 << 10, 128 << 10 // KiB
	minWork              = 35 << 10           // KiB times passes
	maxPasses            = 10
	maxThreads           = 8
	minSalt, maxSalt     = 8, 64
	minKey, maxKey       = 16, 64
	minCost, maxCost     = 10, 14 // of bcrypt
	maxBcryptPassword    = 72     // bytes; bcrypt looks at no more
)

// argon is an argon2id hash.
type argon struct {
	memory, passes uint32
	threads        uint8
	salt, key      []byte
}

// NewHash returns the hash of a password, which is not judged here: see [CheckPassword].
func NewHash(password string) Hash {
	a := argon{memory: argonMemory, passes: argonPasses, threads: argonThreads, salt: make([]byte, saltBytes)}
	_, _ = rand.Read(a.salt) // never fails
	a.key = a.of(password, keyBytes)
	return a.hash()
}

func (a argon) of(password string, size int) []byte {
	return argon2.IDKey([]byte(password), a.salt, a.passes, a.memory, a.threads, uint32(size))
}

func (a argon) hash() Hash {
	b64 := base64.RawStdEncoding.EncodeToString
	return Hash(fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, a.memory, a.passes, a.threads, b64(a.salt), b64(a.key)))
}

// sum tells whether it is still the same, and says nothing of it.
func (h Hash) sum() string {
	sum := sha256.Sum256([]byte(h))
	return hex.EncodeToString(sum[:])
}

// Validate returns ErrHash, with what is wrong and without the hash.
func (h Hash) Validate() error {
	if h.isBcrypt() {
		cost, err := bcrypt.Cost([]byte(h))
		switch {
		case err != nil || len(h) != 60:
			return fmt.Errorf("%w: it is no bcrypt hash", ErrHash)
		case cost < minCost || cost > maxCost:
			return fmt.Errorf("%w: the cost of bcrypt is %d; allowed are %d to %d", ErrHash, cost, minCost, maxCost)
		}
		return nil
	}
	_, err := h.argon()
	return err
}

func (h Hash) isBcrypt() bool { return strings.HasPrefix(string(h), "$2") }

// argon reads an argon2id hash.
func (h Hash) argon() (argon, error) {
	parts := strings.Split(string(h), "$")
	if len(h) > 512 || len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" {
		return argon{}, fmt.Errorf("%w: allowed are $argon2id$v=19$m=…,t=…,p=…$salt$hash, and bcrypt", ErrHash)
	}
	if parts[2] != "v="+strconv.Itoa(argon2.Version) {
		return argon{}, fmt.Errorf("%w: the version of argon2 is another one than %d", ErrHash, argon2.Version)
	}
	var a argon
	var err error
	if a.memory, a.passes, a.threads, err = parameters(parts[3]); err != nil {
		return argon{}, err
	}
	if a.salt, err = decode("salt", parts[4], minSalt, maxSalt); err != nil {
		return argon{}, err
	}
	a.key, err = decode("hash", parts[5], minKey, maxKey)
	return a, err
}

func parameters(text string) (memory, passes uint32, threads uint8, err error) {
	values := strings.Split(text, ",")
	if len(values) != 3 {
		return 0, 0, 0, fmt.Errorf("%w: its parameters are not m=…,t=…,p=…", ErrHash)
	}
	m, t, p := value(values[0], "m="), value(values[1], "t="), value(values[2], "p=")
	switch {
	case m < minMemory || m > maxMemory:
		err = fmt.Errorf("%w: m is not a number from %d to %d (KiB)", ErrHash, minMemory, maxMemory)
	case t < 1 || t > maxPasses:
		err = fmt.Errorf("%w: t is not a number from 1 to %d", ErrHash, maxPasses)
	case p < 1 || p > maxThreads:
		err = fmt.Errorf("%w: p is not a number from 1 to %d", ErrHash, maxThreads)
	case m*t < minWork:
		err = fmt.Errorf("%w: it is too weak: m times t is %d; allowed is %d and more", ErrHash, m*t, minWork)
	}
	return uint32(m), uint32(t), uint8(p), err
}

// value returns the number behind a key; 0 if there is none.
func value(text, key string) int {
	digits, ok := strings.CutPrefix(text, key)
	n, err := strconv.ParseUint(digits, 10, 31)
	if !ok || err != nil {
		return 0
	}
	return int(n)
}

func decode(what, text string, least, most int) ([]byte, error) {
	b, err := base64.RawStdEncoding.Strict().DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") || len(b) < least || len(b) > most {
		return nil, fmt.Errorf("%w: its %s is not base64 of %d to %d bytes", ErrHash, what, least, most)
	}
	return b, nil
}

// fits reports whether the hash is that of a password. It takes as long if it is not, unless it is too long.
func (h Hash) fits(password string) bool {
	if h.isBcrypt() {
		return len(password) <= maxBcryptPassword && bcrypt.CompareHashAndPassword([]byte(h), []byte(password)) == nil
	}
	a, err := h.argon()
	if err != nil {
		return false
	}
	return subtle.ConstantTimeCompare(a.of(password, len(a.key)), a.key) == 1
}
