package jobtype_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/jobtype"
)

func TestParseItemParameters(t *testing.T) {
	for _, tc := range []struct {
		text string
		want map[int]string
		says string // a part of the error
	}{
		{"", nil, ""},
		{"  ", nil, ""},
		{"0=Beijing,1=Shanghai,2=Guangzhou", map[int]string{0: "Beijing", 1: "Shanghai", 2: "Guangzhou"}, ""},
		{" 1 = a b , 0 = c ", map[int]string{0: "c", 1: "a b"}, ""},
		{"0=", map[int]string{0: ""}, ""},
		{"0=a,", map[int]string{0: "a"}, ""},
		{`0=a\,b,1=c\=d`, map[int]string{0: "a,b", 1: "c=d"}, ""},
		{`0=C:\data\new,1=\\server\share`, map[int]string{0: `C:\data\new`, 1: `\\server\share`}, ""},
		{`0=C:\\,1=D:\`, map[int]string{0: `C:\`, 1: `D:\`}, ""},
		{`0=a\\\,b,1=c\\`, map[int]string{0: `a\,b`, 1: `c\\`}, ""},
		{"0=北京", map[int]string{0: "北京"}, ""},
		{",", nil, `pair ""`},
		{"0=a,,1=b", nil, `pair ""`},
		{"a", nil, `pair "a": item=parameter`},
		{"0=a=b", nil, `pair "0=a=b"`},
		{"=a", nil, `item ""`},
		{"x=a", nil, `item "x": an integer`},
		{"1.5=a", nil, `item "1.5": an integer`},
		{"-1=a", nil, `item "-1": an integer from 0`},
		{"100000=a", nil, `to 99999`},
		{"99999999999999999999=a", nil, `to 99999`},
		{"0=a,00=b", nil, "item 0 has two parameters"},
		{`0\=1=a`, nil, `item "0=1"`},
	} {
		got, err := jobtype.ParseItemParameters(tc.text)
		if tc.says != "" {
			if err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%q: error %v, want one that says %s", tc.text, err, tc.says)
			}
			continue
		}
		if err != nil || !cmp.Equal(got, tc.want, cmpopts.EquateEmpty()) {
			t.Errorf("%q: got %v, %v", tc.text, got, err)
		}
	}
}

func TestFormatItemParameters(t *testing.T) {
	got := jobtype.FormatItemParameters(map[int]string{10: "c=d", 2: "a,b", 0: `C:\`, 11: `\\x\`})
	if want := `0=C:\\,2=a\,b,10=c\=d,11=\\x\`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := jobtype.FormatItemParameters(nil); got != "" {
		t.Errorf("nothing is %q", got)
	}
	parameter := rapid.OneOf(rapid.StringMatching(`[ab,=\\ ]*`), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.MapOf(rapid.IntRange(0, jobtype.MaxShardingTotalCount-1), parameter).Draw(t, "parameters")
		for item, parameter := range want {
			want[item] = strings.TrimSpace(parameter)
		}
		text := jobtype.FormatItemParameters(want)
		got, err := jobtype.ParseItemParameters(text)
		if err != nil || !cmp.Equal(got, want, cmpopts.EquateEmpty()) {
			t.Fatalf("%q gives %v, %v", text, got, err)
		}
	})
}
