// Package browser lets tests use pages as people do: in a real Chromium, by the roles and names of what
// they see.
//
//	tab := chromium.Tab(t, server.URL) // cookies of its own
//	tab.Open("/login")
//	tab.Fill("Name", "anna")
//	tab.Click("button", "Log in")
//	tab.See("Jobs")
//
// Each step waits until it can be done, for a minute at most, and then fails the test with what was on the page
// instead. At its end a test fails, too, if its pages had errors in the console, exceptions, violations of
// their content security policy, failed answers that the test did not expect, or requests to another host.
package browser
