// Reads a trace with a reader of Chrome's traces, and prints what it makes of it: each process with its threads, and for
// each of these how many events there are, how many lie within others, and the first and the last instant.
import fs from 'node:fs';
import model from '@tracerbench/trace-model';

const trace = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'));
const read = model.buildModel(trace.traceEvents);
const depthOf = (e) => (e.parent ? 1 + depthOf(e.parent) : 0);
console.log(JSON.stringify(read.processes.map((p) => ({
  name: p.name,
  threads: p.threads.map((t) => ({
    name: t.name,
    events: t.events.map((e) => ({ name: e.name, start: e.start, end: e.end, depth: depthOf(e) })),
  })),
}))));
