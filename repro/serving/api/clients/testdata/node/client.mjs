// Makes one call with the official client and prints what it saw, as a JSON array with an element for
// each answer:
//
//	node client.mjs BASE_URL CALL PATIENCE_MS
//
// The calls are those of calls_test.go; with "-helper" at the end, those that have one use the
// client's own helper for streams or tool loops. After PATIENCE_MS the client gives up.
import OpenAI from 'openai';

const [baseURL, call, patience] = process.argv.slice(2);

// The parent's end closes the pipe: nothing of this may outlive a test.
process.stdin.on('end', () => process.exit(3)).resume();
process.stdin.unref?.();

const turns = [];
let turn;

function begin() {
  turn = { requests: 0, order: [], reasoning: '', content: '', calls: [], finish: '', usage: null, error: null, waits: false };
  turns.push(turn);
}

const client = new OpenAI({
  baseURL,
  apiKey: 'none',
  logLevel: 'off',
  fetch: (...args) => {
    turn.requests++;
    return fetch(...args);
  },
});

const limit = AbortSignal.timeout(Number(patience));
const options = { signal: limit };

const request = {
  model: 'simulated',
  messages: [{ role: 'user', content: 'Say something.' }],
};

const tools = [{
  type: 'function',
  function: {
    name: 'read_message',
    description: 'Reads the next message.',
    parameters: { type: 'object', properties: {} },
  },
}];

const stepwise = {
  model: 'simulated',
  messages: [{ role: 'user', content: 'Go on.\nSteps: read_message.' }],
  tools,
};

// saw notes a kind of chunk, once for each row of them.
function saw(kind) {
  if (turn.order.at(-1) !== kind) turn.order.push(kind);
}

function addUsage(u) {
  turn.usage = {
    prompt: u.prompt_tokens, completion: u.completion_tokens, total: u.total_tokens,
    reasoning: u.completion_tokens_details?.reasoning_tokens ?? u.reasoning_tokens ?? 0,
  };
}

function addChunk(chunk) {
  for (const { delta, finish_reason: finish } of chunk.choices ?? []) {
    if (delta.role) saw('role');
    if (delta.reasoning_content) {
      saw('reasoning');
      turn.reasoning += delta.reasoning_content;
    }
    if (delta.content) {
      saw('text');
      turn.content += delta.content;
    }
    for (const piece of delta.tool_calls ?? []) {
      saw('call');
      const known = turn.calls[piece.index] ??= { id: '', name: '', arguments: '' };
      known.id += piece.id ?? '';
      known.name += piece.function?.name ?? '';
      known.arguments += piece.function?.arguments ?? '';
    }
    if (finish) {
      saw('finish');
      turn.finish = finish;
    }
  }
  if (chunk.usage) {
    saw('usage');
    addUsage(chunk.usage);
  }
}

function addCompletion(completion) {
  const { message, finish_reason: finish } = completion.choices[0];
  turn.reasoning = message.reasoning_content ?? '';
  turn.content = message.content ?? '';
  turn.calls = (message.tool_calls ?? []).map((c) => ({ id: c.id, name: c.function.name, arguments: c.function.arguments }));
  turn.finish = finish;
  if (completion.usage) addUsage(completion.usage);
}

async function stream(req) {
  const answer = await client.chat.completions.create({ ...req, stream: true, stream_options: { include_usage: true } }, options);
  for await (const chunk of answer) addChunk(chunk);
}

// loop calls tools for as long as the model asks for it.
async function loop() {
  const messages = [...stepwise.messages];
  for (;;) {
    begin();
    await stream({ ...stepwise, messages });
    if (turn.finish !== 'tool_calls') return;
    messages.push({
      role: 'assistant', content: turn.content,
      tool_calls: turn.calls.map((c) => ({ id: c.id, type: 'function', function: { name: c.name, arguments: c.arguments } })),
    });
    for (const c of turn.calls) messages.push({ role: 'tool', tool_call_id: c.id, content: '{"text":"hello"}' });
  }
}

async function loopHelper() {
  begin();
  const runner = client.chat.completions.runTools({
    ...stepwise, stream: true, stream_options: { include_usage: true },
    tools: [{ type: 'function', function: { ...tools[0].function, parse: JSON.parse, function: () => ({ text: 'hello' }) } }],
  }, options);
  runner.on('chunk', (chunk) => {
    if (chunk.choices[0]?.delta.role && turn.finish) begin();
    addChunk(chunk);
  });
  await runner.done();
}

const kinds = {
  stream: () => stream(request),
  'stream-helper': async () => {
    const answer = client.chat.completions.stream({ ...request, stream_options: { include_usage: true } }, options);
    answer.on('chunk', addChunk);
    await answer.finalChatCompletion();
  },
  whole: async () => addCompletion(await client.chat.completions.create(request, options)),
  'tool-stream': () => stream(stepwise),
  'tool-stream-helper': async () => {
    const answer = client.chat.completions.stream({ ...stepwise, stream_options: { include_usage: true } }, options);
    answer.on('chunk', addChunk);
    await answer.finalChatCompletion();
  },
  loop,
  'loop-helper': loopHelper,
  'other-model': async () => addCompletion(await client.chat.completions.create({ ...request, model: 'other' }, options)),
  'negative-max-tokens': async () => addCompletion(await client.chat.completions.create({ ...request, max_tokens: -1 }, options)),
  models: async () => {
    for await (const model of client.models.list(options)) turn.content += model.id;
  },
};

function problem(err) {
  const causes = [];
  for (let c = err.cause; c; c = c.cause) causes.push(`${c.name}${c.code ? ` ${c.code}` : ''}: ${c.message}`);
  const text = (v) => (v === undefined || v === null ? '' : String(v));
  return {
    class: err.constructor.name, status: err.status ?? 0, code: text(err.code), type: text(err.type), param: text(err.param),
    message: [err.message, ...causes].join(' <- '),
  };
}

if (call.startsWith('loop')) {
  // begins its own turns
} else {
  begin();
}
try {
  await kinds[call]();
} catch (err) {
  if (!limit.aborted) turn.error = problem(err);
}
turn.waits = limit.aborted;
process.stdout.write(JSON.stringify(turns), () => process.exit(0));
