// Package client is a client of a console's API, /api/v1.
//
//	c, err := client.New("https://console.example.com", client.Options{Token: token})
//	…
//	orders := c.Namespace("orders")
//	request, err := orders.Job("settle").Trigger(ctx, client.Trigger{Items: []int{3}})
//	if errors.Is(err, ops.ErrNoJob) { … }
//	…
//	for update, err := range orders.Watch(ctx) { … }
//
// There is a method for each route, but for those of browsers (log-in, log-out). Answers have the types of
// packages ops and doctor where these are the answer. Errors are *Error, and errors.Is finds the sentinels of ops
// and job in them.
//
// # Attempts
//
//	request ──► answer
//	   │  ▲
//	   ▼  │ away, busy, limited: after a pause with jitter, or Retry-After
//	  again, if that is safe: a GET, or a request with an idempotency key; up to 4 attempts
//
// Trigger, Retry and Backfill always have a key, one that was made for the call if the caller gives none. Other
// changes are sent once: if the answer is lost, it is not known whether they were made. Most of them can be sent
// again by the caller, because what is as it should be already is no change.
//
// # Not promised
//
//   - A list that is read in pages shows what is created or removed meanwhile, or not.
//   - A watch that connects again begins anew if the console does not know the place any more: with a Reset.
package client
