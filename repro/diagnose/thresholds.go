package diagnose

import "time"

// The thresholds of the diagnosis, each with its reason. All are lengths of the run's own clock.
const (
	// quietMin is how long a stream may go without a token and still count as moving. The slowest
	// healthy gap of the incident's servers is 0.11 s (96 streams in a batch), and one long prefill
	// of 6 s may stand in front of a decode step.
	quietMin = 10 * time.Second
	// soonStalls and soonMin make the times after which silence means something shorter where nothing
	// is known of the servers and the watchdog's patience is short: half of it, but no less than a
	// second, since models pause that long.
	soonStalls = 0.5
	soonMin    = time.Second
	// quietGaps is the same in units of the stream's own gap between tokens, for servers that send
	// in bursts.
	quietGaps = 20
	// quietMax bounds that: a stream that has had few tokens has no gap worth the name.
	quietMax = 60 * time.Second

	// freshMax is how old a request may be before the lack of an answer means anything: gauges are
	// written every few seconds, and a short prefill takes as long.
	freshMax = 10 * time.Second
	// deadMin is how long a request must have been out, unknown to the router, before its connection
	// is called dead: two tries of a TCP handshake fit in.
	deadMin = 30 * time.Second
	// unansweredMin and unansweredStalls are how long a request may wait for its first token when
	// nothing is known of the servers: the 300 s after which engines give up their own handshakes, and
	// this many times the watchdog's patience, whichever is longer.
	unansweredMin    = 300 * time.Second
	unansweredStalls = 8
	// commentsMin and commentsStalls are the same for a request that is kept alive with comments and has
	// had no token: servers also do that while they work on a long prompt.
	commentsMin    = 60 * time.Second
	commentsStalls = 3
	// connectMin is how old a wait for a connection must be to count: a dial with TLS takes well
	// under a second, three with retransmissions.
	connectMin = 10 * time.Second
	// toolMin is how long a tool may run before it is suspected. Two thirds of tool calls in public
	// traces end within a second, nine in ten within 10 s.
	toolMin = 30 * time.Second
	// toolUsual is up to how many times its longest call so far a tool may be out and count as no more
	// than slow.
	toolUsual = 2
	// toolFactor is how many times as long as its longest call so far a tool must be out before it may
	// be called hung: the times of tools have long tails.
	toolFactor = 4
	// toolStalls is how many times the watchdog's patience it must be out as well, and toolStallsUnseen
	// the same for a tool of which no call has returned so far.
	toolStalls       = 2
	toolStallsUnseen = 3
	// unseenCaptureStalls is how many times its patience the stall must have lasted before a tool of
	// which no call has returned is judged at all: not at the first capture.
	unseenCaptureStalls = 2
	// rateMin is how long a call must have waited for the pacer's own rate to count: what a burst takes
	// to drain is no finding.
	rateMin = 10 * time.Second
	// waitMin is how old a wait or a hold must be to be built on: objects and calls are not read at
	// the very same instant on the wall.
	waitMin = 5 * time.Second
	// handoffMin is how long the end of a sub-agent may go unheard to count: nothing has to be fetched or
	// worked out to hand a result over.
	handoffMin = 10 * time.Second
	// pipeMin is how long a write into a pipe must have waited to count: a reader that is alive takes what
	// a pipe holds in milliseconds.
	pipeMin = 10 * time.Second
	// expirySlack is how much later than its limit the pacer may cut a stream off.
	expirySlack = 5 * time.Second

	// logSlack is how far the instants of a router's log may be off: its timestamps are whole seconds.
	logSlack = 3 * time.Second
	// togetherFor is how close to each other streams must have stopped to have stopped together, and
	// togetherMin how many it takes; they must differ in what they had received by the togetherSpread-th
	// part, or they stopped at the same place of their answers instead. Decode must have gone on for
	// togetherTokens more for each of them: it does not know that they are gone.
	togetherFor    = 2 * time.Second
	togetherMin    = 3
	togetherSpread = 10
	togetherTokens = 20

	// pauseMin is how long the prefill engine must stand still with something in its inflight queue and
	// requests that wait for it for that to be a pin: a chunk takes a few seconds, and so does a transfer.
	pauseMin = 20 * time.Second

	// recentFor is the window over which gauges are read: the incident's own sample was 30 s long.
	recentFor = 30 * time.Second
	// recentSamples is the least number of samples in that window, for slow samplers.
	recentSamples = 3
	// freshSamples is how many samples must agree on what is in the decode batch: it brings its gauges up
	// to date every few seconds, and calls come and go meanwhile.
	freshSamples = 3
	// drainMin is the least number of running requests, by a gauge that stands still, that are taken to be
	// in the batch yet: one that drains shows smaller numbers every few seconds on its way.
	drainMin = 4
	// stillMin is the shortest window in which an unmoved counter is called still: a prefill chunk
	// takes up to 6 s.
	stillMin = 10 * time.Second

	// serialMax is the largest batch that counts as serialised, from the incident's second load
	// test: 20 to 30 running mean that batching works, 1 to 3 that it does not.
	serialMax = 3
	// queueMin is the shortest queue that is called one.
	queueMin = 2
	// memoryFull is the share of the decode side's memory above which a request may not fit.
	memoryFull = 0.95
	// memoryHigh is the share below which memory keeps no request of ordinary size waiting.
	memoryHigh = 0.85
	// crawlMax is how many tokens a second of each running request are too few to be decoding: the
	// incident's servers make 9 with 96 in the batch.
	crawlMax = 1.0
	// promptsMin is how many tokens of prompts a second keep an engine from decoding: a tenth of what the
	// incident's prefill engine computes.
	promptsMin = 500.0
	// zombieShare is the part of what decode has that must belong to nobody for that to count: clients
	// that leave are noticed a few seconds late by servers that are well.
	zombieShare = 0.2
	// waste is how many times the tokens that arrived the engine must have made to speak of waste.
	waste = 1.5
	// servedMargin is how much faster than the visible streams the servers must produce tokens
	// before it is taken for work on the quiet ones: estimates of tokens are that coarse.
	servedMargin = 1.2
	// stormMin is the least number of attempts cut off or refused within a stall that is a storm: one
	// or two are an accident.
	stormMin = 3
	// loopShare is the part of the tool calls within a stall that must have been impossible for a loop: one
	// that works now and then gets its step done.
	loopShare = 0.8
	// hammering is how many refusals in a stall for each call that is refused are no backing off.
	hammering = 10

	// besideMin is the least score of a second explanation that the summary mentions.
	besideMin = 0.02
	// idsShown bounds lists of ids.
	idsShown = 8
)

// routerQueueLeast is the smallest limit of requests that a router is taken to have. The incident's was
// 32 (I-1); below a handful, a limit would be of no use to anybody.
const routerQueueLeast = 8
