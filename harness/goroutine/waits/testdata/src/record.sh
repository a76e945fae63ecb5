#!/bin/sh
# Records the dumps of testdata/shapes: record.sh PROGRAM DIRECTORY NAME...
# Each name gives NAME.1.txt and NAME.2.txt, the debug=2 profile twice, a second apart,
# and NAME.quit.txt, what SIGQUIT prints.
program=$1 dir=$2
shift 2
for name; do
	"$program" "$name" >"$dir/address" 2>"$dir/$name.quit.txt" &
	pid=$!
	sleep 1
	url="http://$(head -1 "$dir/address")/debug/pprof/goroutine?debug=2"
	curl -s "$url" >"$dir/$name.1.txt"
	sleep 1
	curl -s "$url" >"$dir/$name.2.txt"
	kill -QUIT $pid
	wait $pid 2>/dev/null
	rm "$dir/address"
done
