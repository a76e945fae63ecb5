// Package reprotest lets somebody's own harness meet the faults of a scenario in its own go test: the
// simulated servers serve it in memory, inside a testing/synctest bubble, in which an hour of waiting takes
// no time.
//
//	func TestSurvivesSilentStream(t *testing.T) {
//		synctest.Test(t, func(t *testing.T) {
//			kit := reprotest.Start(t, reprotest.Scenario("silent-stream"))
//			h := harness.New(kit.Client, kit.BaseURL, kit.Model)
//			if err := h.Run(t.Context(), tasks); err != nil {
//				t.Error(err)
//			}
//		})
//	}
//
// The test fails when nothing gets on for too long, by the bubble's clock ([StallAfter]): no request is answered
// in full, no tokens come, and what is awaited will not come, by the diagnosis that runs of wedge have too. It also
// fails when requests only fail and are sent again for so long. It says the verdict, what each request is at on
// either side, where the test's goroutines wait, and how to see it again. The requests under way then end with
// [ErrStalled], so that the harness comes back and the test can end. Those that are left when the test is over
// end with [ErrClosed]: a bubble can only end once all its goroutines have.
//
// Whether the harness's own result is good is for the test to say. Scenarios have their faults at some time
// within hours; here the first one begins with the test, unless [KeepTimes] says otherwise.
//
// A kit works on the machine's clock too, which [Scale] makes faster for the servers, and over loopback with
// [Loopback].
//
// A deadlock within the harness while no request is under way is not the servers' business. It is noticed
// after [IdleAfter] and told of with the goroutines; the kit then leaves, and synctest says what it has to say.
//
// The package may import everything but command wedge, comparisons and reports.
package reprotest
