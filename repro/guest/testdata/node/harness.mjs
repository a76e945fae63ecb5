// A small harness such as people have: agents that make a few rounds of streamed calls with the official
// client, so many at once. It knows nothing of wedge, and finds its server as that client does. An agent
// whose call fails tries again at once, and gives up after so many times:
//
//	node harness.mjs AGENTS ROUNDS LIMIT TRIES
import OpenAI from 'openai';

const [agents, rounds, limit, tries] = process.argv.slice(2).map(Number);

const client = new OpenAI({ logLevel: 'off' });

let free = limit;
const waiting = [];

async function slot(work) {
  if (free === 0) await new Promise((resolve) => waiting.push(resolve));
  else free--;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else free++;
  }
}

async function call(messages) {
  return slot(async () => {
    const stream = await client.chat.completions.create({ model: 'my-model', messages, stream: true });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.delta?.content ?? '';
    return text;
  });
}

async function persist(messages) {
  for (let n = 1; ; n++) {
    try {
      return await call(messages);
    } catch (error) {
      if (n >= tries) throw error;
    }
  }
}

async function agent(i) {
  const messages = [{ role: 'user', content: `You are agent ${i}. Write an article.` }];
  for (let round = 0; round < rounds; round++) {
    const text = await persist(messages);
    messages.push({ role: 'assistant', content: text }, { role: 'user', content: 'Go on.' });
  }
}

const ends = await Promise.allSettled(Array.from({ length: agents }, (_, i) => agent(i)));
const failed = ends.filter((end) => end.status === 'rejected');
for (const end of failed) console.error(String(end.reason));
console.log(`${agents - failed.length} of ${agents} agents done`);
process.exitCode = failed.length > 0 ? 1 : 0;
