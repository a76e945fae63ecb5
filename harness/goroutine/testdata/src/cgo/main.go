// Command cgocrash dies of a segmentation violation in C, below a Go callback
// that C called.
package main

/*
extern void goCallback(void);
static void callGo(void) { goCallback(); }
static void crash(void) { *(volatile int *)0 = 1; }
*/
import "C"

//export goCallback
func goCallback() { C.crash() }

func main() { C.callGo() }
