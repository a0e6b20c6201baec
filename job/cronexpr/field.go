package cronexpr

// field is what may stand in one of the seven fields of an expression.
type field struct {
	name     string
	min, max int
	maxStep  int
	names    []string // of min, min+1, …; most fields have none
	allowed  string   // for error messages
}

// The fields in the order in which they are written.
const (
	second = iota
	minute
	hour
	dayOfMonth
	month
	dayOfWeek
	year
)

var fields = [...]field{
	second: {
		name: "second", min: 0, max: 59, maxStep: 59,
		allowed: "0-59 and , - * /",
	},
	minute: {
		name: "minute", min: 0, max: 59, maxStep: 59,
		allowed: "0-59 and , - * /",
	},
	hour: {
		name: "hour", min: 0, max: 23, maxStep: 23,
		allowed: "0-23 and , - * /",
	},
	dayOfMonth: {
		name: "day-of-month", min: 1, max: 31, maxStep: 31,
		allowed: "1-31, L, L-0 to L-30, LW, 1W to 31W and , - * /, or ? alone",
	},
	month: {
		name: "month", min: 1, max: 12, maxStep: 12,
		names:   []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"},
		allowed: "1-12 or JAN-DEC and , - * /",
	},
	dayOfWeek: {
		name: "day-of-week", min: 1, max: 7, maxStep: 7,
		names:   []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"},
		allowed: "1-7 (1 is Sunday) or SUN-SAT, L, 1L to 7L, 1#1 to 7#5 and , - * /, or ? alone",
	},
	year: {
		name: "year", min: minYear, max: maxYear, maxStep: maxYear - minYear,
		allowed: "1970-2099 and , - * /",
	},
}
