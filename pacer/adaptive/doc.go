// Package adaptive has time limits that learn from the calls that were made: [Config] names a rule
// and its parameters, and an [Estimator] turns what was observed into the limit of the next attempt.
//
//	rto              TCP's retransmission timeout: mean plus four mean deviations
//	quantile         a quantile of the last samples, times a factor
//	moving_quantile  a streaming quantile without a window
//
// A call that was cut off by its limit is a censored sample: it would have taken longer, nobody knows
// how much. Leaving such samples out makes a limit that learns from its own survivors, and that falls
// until nothing passes. Here they count at the value of the limit, and the limit doubles. The wrong
// ways that are found in the field are switches of [Config], so that their harm can be measured.
//
// Everything is a function of instants and samples handed in; nothing waits and nothing is drawn. The
// package imports harness/sim only.
package adaptive
