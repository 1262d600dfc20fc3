import { expect, test } from "vitest";
import { startPlain } from "../../modes/plain/start-plain.js";

test("without a screen, /changelog prints the latest version without the hashes of its headings", async () => {
	const plain = await startPlain();
	await plain.until("> ");
	plain.enter("/changelog");
	await plain.until(/Changes · this is pi \d/);
	await plain.until("> ");
	expect(plain.text()).not.toMatch(/^#/m);
});
