import { expect, test } from "vitest";
import { readImageHeader } from "../../../src/images/image-header.js";
import { png } from "../../helpers/images.js";
import { startSession } from "../../helpers/session.js";

const imagesOf = ({ messages }: { messages: { images: number }[] }) =>
	messages.reduce((sum, { images }) => sum + images, 0);

test("a session sends no more images than its model accepts, and says so once", async () => {
	const { session, provider, notices } = await startSession();
	await session.setModel(provider.model({ id: "strict", inputLimits: { images: { maxPerRequest: 2 } } }));
	provider.on(() => "ok");
	for (let turn = 0; turn < 4; turn++) await session.prompt("look", { images: [png(4, 4)] });
	expect(provider.requests.map(imagesOf)).toEqual([1, 2, 2, 2]);
	expect(notices()).toEqual(["1 image is beyond the limits of strict: it gets a placeholder for each"]);
	const texts = provider.requests.at(-1)?.messages.map(({ text }) => text) ?? [];
	expect(texts.join("\n")).toContain(
		"[An image was here. It is not sent, because strict accepts 2 images in a request]",
	);
	// The images are in the session, and another model gets them.
	await session.setModel(provider.model({ id: "free" }));
	await session.prompt("and now?");
	expect(imagesOf(provider.requests.at(-1) ?? { messages: [] })).toBe(4);
});

test("an image that enters is scaled to the limits of the model, once", async () => {
	const { session, provider } = await startSession();
	const inputLimits = { images: { resize: { maxWidth: 40, maxHeight: 20 } } };
	await session.setModel(provider.model({ id: "strict", inputLimits }));
	provider.on(() => "ok");
	await session.prompt("look", { images: [png(100, 100)] });
	await session.prompt("again");
	for (const { body } of provider.requests) {
		const [, data = ""] = /base64,([^"]+)/.exec(JSON.stringify(body)) ?? [];
		expect(readImageHeader(Buffer.from(data, "base64"))).toMatchObject({ width: 20, height: 20 });
	}
});

test("a request that is larger than the provider accepts is not sent, and says what to do", async () => {
	const { session, provider } = await startSession({ userSettings: { compaction: { enabled: false } } });
	await session.setModel(provider.model({ id: "strict", inputLimits: { maxRequestBytes: 40_000 } }));
	provider.on(() => "ok");
	await session.prompt("hi");
	const result = await session.prompt("x".repeat(40_000));
	expect(provider.requests).toHaveLength(1);
	const message = /^The request is too large: \d+ KB, but strict accepts 39 KB; free context with \/compact$/;
	expect(result).toMatchObject({ kind: "run", outcome: { stopped: expect.stringMatching(message) } });
});

test("with images, the error names their share", async () => {
	const { session, provider } = await startSession({ userSettings: { compaction: { enabled: false } } });
	const { data } = png(8, 8);
	await session.setModel(provider.model({ id: "strict", inputLimits: { maxRequestBytes: 1000 } }));
	const result = await session.prompt("look", { images: [png(8, 8)] });
	expect(JSON.stringify(result)).toContain(
		`${data.length} bytes of it in 1 image, but strict accepts 1000 bytes; free context with /compact, or take the images back with /branch`,
	);
	expect(provider.requests).toEqual([]);
});

test("an automatic compaction makes room for a request that has too many bytes", async () => {
	const { session, provider, events } = await startSession();
	await session.setModel(provider.model({ id: "strict", inputLimits: { maxRequestBytes: 120_000 } }));
	provider.on(({ messages }) => (messages.some(({ text }) => text.includes("<conversation>")) ? "A summary." : "ok"));
	for (let turn = 0; turn < 3; turn++) await session.prompt("y".repeat(45_000));
	expect(events.some(({ type }) => type === "auto_compaction_start")).toBe(true);
	expect(provider.requests.at(-1)?.messages.at(-1)?.text).toBe("y".repeat(45_000));
	for (const { body } of provider.requests) expect(JSON.stringify(body).length).toBeLessThan(125_000);
});
