// Stands in for the runtime of AWS Lambda: calls the handler of a bundle for each line of its input, one after the other.

import process from 'node:process';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const { handler } = await import(pathToFileURL(process.argv[2]).href);
for await (const line of createInterface({ input: process.stdin })) {
  try {
    const { statusCode, body } = await handler(JSON.parse(line));
    console.log(JSON.stringify({ statusCode, ...JSON.parse(body) }));
  } catch (error) {
    // As AWS Lambda does: the request has failed, and the instance stays for the next one.
    console.log(JSON.stringify({ errorType: error.name, errorMessage: error.message }));
  }
}
