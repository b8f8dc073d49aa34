// Evaluates ids.mjs 100 times, as a development server does, and tells what came of it.
const seen = new Set();
const minted = new Set();
let last;
let evaluated = 0;
try {
  for (; evaluated < 100; evaluated++) {
    last = await import(`./ids.mjs?${evaluated}`);
    seen.add(last.orders);
    minted.add(last.orders.next());
  }
  console.log(JSON.stringify({ evaluated, generators: seen.size, ids: minted.size }));
} catch ({ code, message }) {
  console.log(JSON.stringify({ evaluated, generators: seen.size, ids: minted.size, code, message }));
}
await last?.ids.close();
