package compare

import (
	"fmt"
	"strings"
)

// cause says by what mechanism tasks take longer, or fail more, in one cell than in another of the same
// world. Where [reason] compares any two policies and begins with what became of the tasks, here that has
// been told already. It is empty if nothing stands out.
func cause(cell, other *Cell) string {
	var why []string
	add := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	if n := cell.Never - other.Never; n > 0 {
		add("%d of %d runs never end", cell.Never, cell.Completed.N)
	}
	if limit := moreEnded(cell, other); limit != nil {
		healthy := "none of them healthy"
		if limit.HealthyPerRun > 0 {
			healthy = fmt.Sprintf("%.3g of them healthy", limit.HealthyPerRun)
		}
		add("the %s limit ends %.3g attempts a run, %s", limit.Limit, limit.KilledPerRun, healthy)
	}
	if n := gap(cell, other, "rejected"); n >= 1 {
		add("the client itself turns %.3g attempts a run away", cell.Of("rejected").Mean)
	}
	never, more := cell.Of("retry_share").Mean == 0, cell.Of("retry_share").Mean < other.Of("retry_share").Mean
	switch n := cell.Of("refused").Mean; {
	case never && more && n >= 1:
		add("the servers refuse %.3g attempts a run, which are not made again", n)
	case never && more && cell.Failed > other.Failed:
		add("what fails is not tried again")
	case more && n >= 1:
		add("the servers refuse %.3g attempts a run, and it asks again less often", n)
	}
	if by := gap(cell, other, KeyZombies); by >= 0.5 {
		add("the servers go on with what was given up (%s more places for nobody)", oneDigit(by))
	}
	if part, share := longestPart(cell, other); part != "" && (len(why) == 0 || share >= partTold) {
		add("%s", part)
	}
	return strings.Join(why[:min(2, len(why))], ", and ")
}

// moreEnded is the limit that ended most attempts beyond those that it ended in the other cell, if it is one a run
// at least, or nil.
func moreEnded(cell, other *Cell) *KilledBy {
	var most *KilledBy
	most0 := 1.0
	for i := range cell.KilledBy {
		limit := &cell.KilledBy[i]
		more := limit.KilledPerRun
		for j := range other.KilledBy {
			if other.KilledBy[j].Limit == limit.Limit {
				more -= other.KilledBy[j].KilledPerRun
			}
		}
		if more >= most0 {
			most, most0 = limit, more
		}
	}
	return most
}
