package trace

// EventSize is what an event counts for without its texts.
const EventSize = eventSize
