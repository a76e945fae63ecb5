// Package compare runs the same agents against the same servers, with the same random numbers, under
// several policies, and says which policy does better, by how much, at what cost, and how sure that is.
//
// A [Plan] is policies x scenarios x seeds. [Execute] runs it in virtual time on all cores, keeps what
// is finished in a directory, and goes on from there. [Analyse] makes [Results] of it, which are the same
// bytes whatever the number of cores and the order in which runs end. A scenario keeps its world:
// agents, servers, faults, seed. Only its block `policy` is replaced, and its block `pacer` patched, by the
// policy's settings. All runs go on to the scenario's horizon: nobody gives up before.
//
// It may import everything but cmd; nothing but cmd imports it.
package compare
