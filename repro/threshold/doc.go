// Package threshold reads expressions such as
//
//	p95(call) < 120s
//	stalls == 0 && goodput > 90%
//	each(p95(ttft)) < 30s
//	rss_growth < 5%/h
//
// and says whether a run meets them. [Parse] knows every metric, aggregate and unit ([Names] lists them) and refuses
// what it does not know with one line that tells the column and what is allowed; what was measured comes through
// [Values], so that this package needs to know nothing of runs. It imports the standard library only.
package threshold
