// Package threshold reads what a run has to achieve, in expressions such as
//
//	p95(call) < 120s
//	stalls == 0 && goodput > 90%
//	each(p95(ttft)) < 30s
//	rss_growth < 5%/h || rss < 200MiB
//
// and says whether it did. An expression is terms with && and ||, which may be grouped with parentheses; a term is a
// quantity, one of < <= > >= == !=, and a number with its unit. A quantity is
//
//	METRIC              a number by itself: stalls, goodput, rss
//	AGG(METRIC)         of a distribution or a level: p95(call), max(slots_in_use), failed(calls), rate(tasks)
//	each(QUANTITY)      in every window after the warm-up that has a value, instead of over the whole run
//	growth(QUANTITY)    robust slope over the windows, or readings, after the warm-up: in %/h of where it began, or UNIT/h;
//	                    0 where noise explains it
//	drift(QUANTITY)     the last third of the windows against the first, in %
//
// METRIC_growth and METRIC_drift are short for growth(METRIC) and drift(METRIC), where a distribution stands for its
// median. [Names] lists metrics, aggregates and units. What was not measured is not met.
//
// [Parse] refuses what it does not know with one line that tells the column, what was found, and what is allowed. What
// was measured comes through [Values], so that this package needs to know nothing of runs. It imports the standard
// library only.
package threshold
