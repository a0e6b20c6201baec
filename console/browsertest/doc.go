// Package browsertest tests the pages of the console in Chromium, as the people who use them do. It is a
// module of its own, so that users of the console do not get what that requires.
package browsertest
