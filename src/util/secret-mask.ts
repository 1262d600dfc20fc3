import { isRecord } from "./is-record.js";

/** Shorter values also occur in ordinary text. */
const SHORTEST_SECRET = 8;
const MASK = "‹key›";
/** Names of variables, headers and fields whose values are secrets. */
const SECRET_NAME = /key|token|secret|passw(?:or)?d|passphrase|auth|cookie|credential|(?:^|[_-])pat$/i;

/** True if a variable or header with this name contains a secret. */
export function isSecretName(name: string): boolean {
	return SECRET_NAME.test(name);
}

/** Replaces secrets with `‹key›`, also those that are escaped as JSON. */
export class SecretMask {
	/** Longest first: a secret can contain another one. */
	readonly #secrets: readonly string[];
	/** The end of the last bytes, which may begin a secret, as Latin-1. */
	#withheld = "";

	/** @param secrets those of fewer than 8 UTF-16 units are ignored */
	constructor(secrets: Iterable<string>) {
		const long = [...secrets].filter((secret) => secret.length >= SHORTEST_SECRET);
		this.#secrets = [...new Set(long.flatMap(formsOf))].sort((a, b) => b.length - a.length);
	}

	text(text: string): string {
		return replaceAll(text, this.#secrets, MASK);
	}

	/** A copy of JSON data in which all texts are masked. */
	json<T>(value: T): T {
		if (this.#secrets.length === 0) return value;
		const mask = (one: unknown): unknown => {
			if (typeof one === "string") return this.text(one);
			if (Array.isArray(one)) return one.map(mask);
			return isRecord(one) ? Object.fromEntries(Object.entries(one).map(([key, field]) => [key, mask(field)])) : one;
		};
		return mask(value) as T;
	}

	/** The next bytes of a stream of text. A secret may be divided between calls: its beginning is withheld until the rest arrives. */
	bytes(chunk: Buffer): Buffer {
		if (this.#secrets.length === 0) return chunk;
		const secrets = this.#secrets.map(asLatin1);
		const masked = replaceAll(this.#withheld + chunk.toString("latin1"), secrets, asLatin1(MASK));
		const withheld = Math.max(...secrets.map((secret) => overlap(masked, secret)));
		this.#withheld = withheld === 0 ? "" : masked.slice(-withheld);
		return Buffer.from(masked.slice(0, masked.length - withheld), "latin1");
	}
}

/** A secret, and how programs write it in JSON. */
function formsOf(secret: string): string[] {
	const escaped = JSON.stringify(secret).slice(1, -1);
	const toAscii = (hex: (code: string) => string) =>
		escaped.replace(/[\x7f-\uffff]/g, (unit) => `\\u${hex(unit.charCodeAt(0).toString(16).padStart(4, "0"))}`);
	const forms = [escaped, toAscii((code) => code), toAscii((code) => code.toUpperCase())];
	return [secret, ...forms, ...forms.map((form) => form.replaceAll("/", "\\/"))];
}

function replaceAll(text: string, secrets: readonly string[], by: string): string {
	return secrets.reduce((masked, secret) => (masked.includes(secret) ? masked.replaceAll(secret, by) : masked), text);
}

function asLatin1(text: string): string {
	return Buffer.from(text).toString("latin1");
}

/** Length of the longest end of a text that begins a secret. */
function overlap(text: string, secret: string): number {
	for (let length = Math.min(secret.length - 1, text.length); length > 0; length--) {
		if (text.endsWith(secret.slice(0, length))) return length;
	}
	return 0;
}
