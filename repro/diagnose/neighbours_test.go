package diagnose

import (
	"slices"
	"testing"
)

// serverCauses are those that lie at the servers, or on the way to them, and show themselves to the
// agents in much the same way: nothing comes.
var serverCauses = []Cause{
	CauseSilentStream, CauseCommentStream, CauseConnectionDead, CauseRouterLost, CauseBadPairing, CauseInflightPin, CausePinWatchdog,
	CauseDecodeMemory, CauseLongContextDecode, CauseTimeoutCascade, CauseRetryStorm, CauseRouterQueue, CauseIgnoredAbort,
	CauseProxyBuffering, CausePrefillBottleneck, CauseDecodeSerialized, CausePrefillHang, CauseTransferHang,
}

// alsoSeen are the pairs of which both are seen in a story: its own cause, and another that explains
// less of it.
var alsoSeen = map[string][]Cause{
	"inflight-pin-and-refusals":      {CauseRouterQueue},       // both are there
	"pin-watchdog":                   {CauseRouterLost},        // prefill works again, and its gauge lacks some
	"timeout-cascade-before-headers": {CausePrefillBottleneck}, // which is why the limit is too short
}

// harnessCauses are those that show as agents that do nothing and ask nothing of the servers.
var harnessCauses = []Cause{
	CauseToolHang, CausePipeFull, CauseSlowTool, CauseLostWakeup, CauseSwallowedError, CauseLockOrder, CauseLockOverCall, CauseNestedSlot, CauseSlotLeak, CauseStarvation,
}

// TestNeighboursInTheHarness: agents that wait for each other, or for what is not handed over, are not
// taken for tools that hang, and the other way round.
func TestNeighboursInTheHarness(t *testing.T) {
	for _, st := range stories() {
		if st.cause == CauseStarvation || st.cause == CauseNestedSlot || !slices.Contains(harnessCauses, st.cause) {
			continue
		}
		v := st.verdict()
		for _, h := range v.Hypotheses {
			also := st.name == "lock-over-tool" && h.Cause == CauseSlowTool // which is what the lock is held over
			if h.Status == Supported && h.Cause != st.cause && slices.Contains(harnessCauses, h.Cause) && h.Score > 0.3 && !also {
				t.Errorf("%s: %s claims it too\n%s", st.name, h.Cause, transcript(&v))
			}
		}
	}
}

// TestNeighbours: what is told of one cause is not claimed by its neighbours.
func TestNeighbours(t *testing.T) {
	told := map[Cause]bool{}
	for _, st := range stories() {
		if !slices.Contains(serverCauses, st.cause) {
			continue
		}
		told[st.cause] = true
		v := st.verdict()
		for _, h := range v.Hypotheses {
			if h.Status == Supported && h.Cause != st.cause && slices.Contains(serverCauses, h.Cause) && !slices.Contains(alsoSeen[st.name], h.Cause) {
				t.Errorf("%s: %s claims it too\n%s", st.name, h.Cause, transcript(&v))
			}
		}
	}
	for _, c := range serverCauses {
		if !told[c] {
			t.Errorf("no story of %s", c)
		}
	}
}
