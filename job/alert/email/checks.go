package email

import (
	"errors"
	"fmt"
	"net/mail"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/job/property"
)

// maxAddresses bounds a list of addresses.
const maxAddresses = 100

// addresses allows lists of addresses.
func addresses(most int) property.Check {
	allowed := "one address is"
	if most > 1 {
		allowed = fmt.Sprintf("up to %d addresses with commas between them are", most)
	}
	return property.Check{Allowed: allowed, Accept: func(text string) error {
		list, err := mail.ParseAddressList(text)
		if err != nil || len(list) > most || len(text) > 32<<10 {
			return fmt.Errorf("%s: %s allowed, such as ops@example.com", brief.Quote(text), allowed)
		}
		return nil
	}}
}

// addressesOf returns the addresses of a property that has been checked.
func addressesOf(v property.Values, name string) []*mail.Address {
	if v.Text(name) == "" {
		return nil
	}
	list, err := mail.ParseAddressList(v.Text(name))
	if err != nil {
		panic("email: " + name + " has not been checked")
	}
	return list
}

// oneLine allows texts without line breaks, and other control characters.
func oneLine() property.Check {
	const allowed = "one line of up to 255 bytes is"
	return property.Check{Allowed: allowed, Accept: func(text string) error {
		if len(text) > 255 || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return errors.New(allowed + " allowed")
		}
		return nil
	}}
}

// hostName allows a name, or an IP address.
func hostName() property.Check {
	const allowed = "a host name or an IP address is"
	return property.Check{Allowed: allowed, Accept: func(text string) error {
		if !isHostName(text) {
			return fmt.Errorf("%s: %s allowed", brief.Quote(text), allowed)
		}
		return nil
	}}
}

func isHostName(text string) bool {
	return text != "" && len(text) <= 253 && !strings.ContainsFunc(text, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-._:", r))
	})
}

// hostNames allows lists of names, with commas or spaces between them, as JavaMail has them.
func hostNames() property.Check {
	const allowed = "host names with commas between them are"
	return property.Check{Allowed: allowed, Accept: func(text string) error {
		if text == "*" {
			return errors.New("* would let anybody pass for the mail server; name what its certificate is for, or let email.tls name a configuration that has its root")
		}
		for name := range strings.SplitSeq(text, ",") {
			if !isHostName(strings.TrimSpace(name)) {
				return fmt.Errorf("%s: %s allowed", brief.Quote(text), allowed)
			}
		}
		return nil
	}}
}
