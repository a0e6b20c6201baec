// Package client is a client of a console's API, /api/v1.
//
//	c, err := client.New("https://console.example.com", client.Options{Token: token})
//	…
//	orders := c.Namespace("orders")
//	request, err := orders.Job("settle").Trigger(ctx, client.TriggerBody{Items: []int{3}}, "")
//	if errors.Is(err, ops.ErrNoJob) { … }
//	…
//	for update, err := range orders.Watch(ctx) { … }
//
// There is a method for each operation of the OpenAPI document, of its name, but for those of browsers (log-in, log-out):
// list-users is Client.ListUsers, put-calendar Namespace.PutCalendar, trigger-job Job.Trigger. Bodies and answers have the
// types of their schemas; those of packages ops, doctor, dump and access where these are the answer. Errors are *Error, and
// errors.Is finds the sentinels of ops and job in them.
//
// # Arguments
//
//   - body is what is sent.
//   - ifMatch is the ETag of what is to change, as it was answered, or Any. Put creates if it is empty.
//   - key makes two calls one request. If it is empty, one is made for the call.
//   - p are parameters of the query. What is zero has its default.
//
// # Attempts
//
//	request ──► answer
//	   │  ▲
//	   ▼  │ away, busy, limited: after a pause with jitter, or Retry-After
//	  again, if that is safe: a GET, a dry run, or a request with an idempotency key; up to 4 attempts
//
// Other changes are sent once: if the answer is lost, it is not known whether they were made. Most of them can be sent
// again by the caller, because what is as it should be already is no change.
//
// # Not promised
//
//   - A list that is read in pages shows what is created or removed meanwhile, or not.
//   - A watch that connects again begins anew if the console does not know the place any more: with a Reset.
package client
