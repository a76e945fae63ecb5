package report

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// shortPaths writes the paths of a picture with one digit after the point, each point from the one before, which is a third
// of the bytes. Points that fall on the one before, to a tenth of a pixel, go. Paths with curves stay as they are.
func shortPaths(svg []byte) []byte {
	const opening = `<path d="`
	var out bytes.Buffer
	for {
		before, rest, found := bytes.Cut(svg, []byte(opening))
		out.Write(before)
		if !found {
			return out.Bytes()
		}
		d, after, _ := bytes.Cut(rest, []byte(`"`))
		out.WriteString(opening)
		if short, ok := shortPath(string(d)); ok {
			out.WriteString(short)
		} else {
			out.Write(d)
		}
		out.WriteByte('"')
		svg = after
	}
}

// shortPath rewrites one path of the shape M x,y L x,y … Z, as gonum writes straight lines. ok is false for any other.
func shortPath(d string) (short string, ok bool) {
	var out strings.Builder
	var x, y, startX, startY int64 // in tenths of a pixel
	for len(d) > 0 {
		command := d[0]
		end := strings.IndexAny(d[1:], "MLZAQC")
		if end < 0 {
			end = len(d) - 1
		}
		argument := d[1 : 1+end]
		d = d[1+end:]
		if command == 'Z' && argument == "" {
			out.WriteByte('z')
			x, y = startX, startY
			continue
		}
		toX, toY, good := tenths(argument)
		switch {
		case !good || command != 'M' && command != 'L':
			return "", false
		case command == 'M':
			fmt.Fprintf(&out, "M%s", pair(toX, toY))
			startX, startY = toX, toY
		case toX == x && toY == y && !strings.HasPrefix(d, "Z"):
			if d != "" && d[0] == 'L' {
				continue
			}
			out.WriteString("h0") // a line without length is a dot, if its ends are round
		case toY == y:
			out.WriteString("h" + tenth(toX-x))
		case toX == x:
			out.WriteString("v" + tenth(toY-y))
		default:
			out.WriteString("l" + pair(toX-x, toY-y))
		}
		x, y = toX, toY
	}
	return out.String(), true
}

// tenths reads "x,y".
func tenths(argument string) (x, y int64, ok bool) {
	first, second, comma := strings.Cut(argument, ",")
	px, err1 := strconv.ParseFloat(first, 64)
	py, err2 := strconv.ParseFloat(second, 64)
	const far = 1e9
	if !comma || err1 != nil || err2 != nil || !(math.Abs(px) < far && math.Abs(py) < far) {
		return 0, 0, false
	}
	return int64(math.Round(px * 10)), int64(math.Round(py * 10)), true
}

// pair writes two numbers; a minus parts them as well as a comma does.
func pair(x, y int64) string {
	if second := tenth(y); second[0] != '-' {
		return tenth(x) + "," + second
	}
	return tenth(x) + tenth(y)
}

// tenth writes a number of tenths.
func tenth(v int64) string {
	sign := ""
	if v < 0 {
		sign, v = "-", -v
	}
	switch {
	case v%10 == 0:
		return sign + strconv.FormatInt(v/10, 10)
	case v < 10:
		return sign + "." + strconv.FormatInt(v, 10)
	}
	return sign + strconv.FormatInt(v/10, 10) + "." + strconv.FormatInt(v%10, 10)
}
