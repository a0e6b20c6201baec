package cronexpr

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// LoadLocation finds a time zone by name: empty for the zone of this machine,
// an IANA name such as "Asia/Shanghai", or an offset from Greenwich as Java
// and ElasticJob write it: "GMT", "GMT+08:00", and the short forms "GMT+8" and
// "GMT+0800". An offset goes up to 23:59 and its zone is named in full. Names
// that mean another zone on each machine are refused: Local, localtime, posixrules.
//
// A program that may run where there are no zone files should import time/tzdata.
func LoadLocation(name string) (*time.Location, error) {
	if name == "" {
		return time.Local, nil
	}
	if offset, ok := gmtOffset(name); ok {
		return time.FixedZone(gmtName(offset), offset), nil
	}
	loc, err := time.LoadLocation(name)
	switch name {
	case "Local", "localtime", "posixrules", "Factory":
		err = errors.New("it is another zone on each machine")
	}
	if err != nil {
		return nil, fmt.Errorf("time zone %s: %w; allowed: an IANA name such as Asia/Shanghai, "+
			"GMT±hh:mm up to 23:59 such as GMT+08:00, or nothing for the zone of this machine", brief.Quote(name), brief.Error(err))
	}
	return loc, nil
}

var gmtPattern = regexp.MustCompile(`^GMT(?:([+-])([01]?\d|2[0-3])(?::?([0-5]\d))?)?$`)

// gmtOffset reads GMT, GMT±h, GMT±hh, GMT±hmm and GMT±hhmm, the minutes with
// or without a colon, into seconds east of Greenwich.
func gmtOffset(name string) (offset int, ok bool) {
	parts := gmtPattern.FindStringSubmatch(name)
	if parts == nil {
		return 0, false
	}
	hours, _ := strconv.Atoi(parts[2]) // digits, or empty for zero
	minutes, _ := strconv.Atoi(parts[3])
	offset = hours*3600 + minutes*60
	if parts[1] == "-" {
		offset = -offset
	}
	return offset, true
}

// gmtName is GMT, or GMT±hh:mm.
func gmtName(offset int) string {
	switch minutes := offset / 60; {
	case minutes < 0:
		return fmt.Sprintf("GMT-%02d:%02d", -minutes/60, -minutes%60)
	case minutes > 0:
		return fmt.Sprintf("GMT+%02d:%02d", minutes/60, minutes%60)
	}
	return "GMT"
}
