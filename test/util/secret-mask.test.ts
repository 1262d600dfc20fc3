import fc from "fast-check";
import { expect, test } from "vitest";
import { isSecretName, SecretMask } from "../../src/util/secret-mask.js";

test("secrets are masked in texts and in JSON, longest first, but no short words", () => {
	const mask = new SecretMask(["sesame-0123", "sesame-0123-long", "short"]);
	expect(mask.text("a sesame-0123-long b sesame-0123 short")).toBe("a ‹key› b ‹key› short");
	const data = { content: [{ text: "key=sesame-0123", count: 2, none: null }], isError: false };
	expect(mask.json(data)).toEqual({ content: [{ text: "key=‹key›", count: 2, none: null }], isError: false });
});

test("secrets that a program escapes as JSON are masked, in texts and in streams", () => {
	const secret = '-----BEGIN KEY-----\nab"c\\d/é\n-----END KEY-----';
	const mask = new SecretMask([secret]);
	const escaped = JSON.stringify({ key: secret });
	const ascii = escaped.replace("é", "\\u00e9");
	const forms = [escaped, escaped.replaceAll("/", "\\/"), ascii, ascii.replaceAll("/", "\\/")];
	for (const form of forms) {
		expect(mask.text(form)).toBe('{"key":"‹key›"}');
		expect(mask.json({ text: form })).toEqual({ text: '{"key":"‹key›"}' });
		expect(mask.bytes(Buffer.from(`${form}\n`)).toString()).toBe('{"key":"‹key›"}\n');
	}
	expect(mask.text(ascii.replace("00e9", "00E9"))).toBe('{"key":"‹key›"}');
});

test("a stream is masked wherever it is divided", () => {
	const secrets = ["schlüssel-0123", "schlüssel-9"];
	const pieces = fc.array(fc.constantFrom(...secrets, "schlüssel-0", "schl", "üss", "el-0123", "\n", "text "));
	fc.assert(
		fc.property(pieces, fc.array(fc.nat({ max: 20 })), (parts, sizes) => {
			const bytes = Buffer.from(`${parts.join("")}\n`);
			const mask = new SecretMask(secrets);
			const chunks: Buffer[] = [];
			let at = 0;
			for (const size of [...sizes, bytes.length]) {
				chunks.push(mask.bytes(bytes.subarray(at, at + size)));
				at = Math.min(bytes.length, at + size);
			}
			expect(Buffer.concat(chunks).toString()).toBe(new SecretMask(secrets).text(bytes.toString()));
		}),
	);
});

test.each(["API_KEY", "Authorization", "x-access-token", "DB_PASSWORD", "GITHUB_PAT", "Cookie"])(
	"%s names a secret",
	(name) => {
		expect(isSecretName(name)).toBe(true);
	},
);

test.each(["PATH", "HOME", "PROJECT", "DEBUG", "NODE_PATH"])("%s names none", (name) => {
	expect(isSecretName(name)).toBe(false);
});
