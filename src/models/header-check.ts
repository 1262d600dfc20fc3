import { PiError } from "../errors.js";
import { revealLine } from "../util/reveal.js";

/** Names and values of HTTP headers as Node sends them; whitespace around a value is not sent. */
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const EXPECTED = "a line break or a character outside Latin-1";

/** @throws PiError `key_missing` for a key that no header can carry; the error does not contain it */
export function checkKey(provider: string, key: string, source: string | undefined): void {
	if (VALUE.test(key.trim())) return;
	const from = source === undefined ? "" : ` (${source})`;
	throw new PiError("key_missing", `The key of ${provider}${from} contains ${EXPECTED}, so it cannot be sent`, {
		hint: `correct the key, or run /login ${provider} in pi`,
	});
}

/** @throws PiError `key_missing` for a header that cannot be sent; the error does not contain its value */
export function checkHeader(
	provider: string,
	source: string,
	[name, value]: readonly [name: string, value: string],
): void {
	const header = `The header ${JSON.stringify(revealLine(name))} of ${provider} in ${source}`;
	const hint = `correct it in ${source}`;
	if (!NAME.test(name)) throw new PiError("key_missing", `${header} is not a legal header name`, { hint });
	if (VALUE.test(value.trim())) return;
	throw new PiError("key_missing", `${header} contains ${EXPECTED}, so it cannot be sent`, { hint });
}
