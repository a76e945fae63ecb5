// Package admission decides whether an attempt may be sent at all: a [Budget] bounds retries and
// hedges, a [Throttle] turns away calls before they reach a server that refuses them anyway, a
// [Breaker] stops all of them for a while.
//
// Each has the rules of several libraries, exactly, with their names of parameters, since their
// defaults differ by what they were made for: requests of milliseconds. A parameter of 0 is the
// library's own default; see the WithDefaults methods.
//
// What happens to an attempt, in this order:
//
//	Throttle.Reject, Breaker.Allow    may it be sent? Retries have asked the budget before
//	Budget.Sent                       it is sent
//	Budget, Throttle, Breaker.Ended   it is over, well or not
//	Budget.MayRetry                   may the call try again? A yes is paid at once
//	Budget.Closed                     the call is over
//
// Everything is a function of instants, events, and draws that are handed in; nothing waits. Nothing
// here is safe for concurrent use. The package imports harness/sim only.
package admission
