import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ImageContent } from "@mariozechner/pi-ai";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { imagesOf } from "../../../src/context/omitted-images.js";
import { isImageOmissionEntry, isMessageEntry } from "../../../src/log/entry.js";
import type { AgentSession } from "../../../src/sdk/agent-session.js";
import { corners, cornersOf, GIF, jpegHeader, png } from "../../helpers/images.js";
import { httpError, type LoopbackProvider, startProvider, toolCall } from "../../helpers/loopback-provider.js";
import { startSession, type TestSession, type TestSessionOptions } from "../../helpers/session.js";
import { tempDir } from "../../helpers/temp.js";

const VISION: TestSessionOptions = { modelOptions: { input: ["text", "image"] } };
const start = (options: TestSessionOptions = {}) => startSession({ ...VISION, ...options });
/** Images in each request so far. */
const imagesSent = ({ requests }: LoopbackProvider) =>
	requests.map(({ messages }) => messages.reduce((sum, { images }) => sum + images, 0));
const omissions = (session: AgentSession) => session.entries.filter(isImageOmissionEntry);
const REFUSED = "image exceeds 5 MB maximum: 6938220 bytes > 5242880 bytes";

/** The images of an entry's message. */
function imagesIn(session: AgentSession, index: number): ImageContent[] {
	const entry = session.entries[index];
	if (!isMessageEntry(entry) || !("content" in entry.message) || typeof entry.message.content === "string") return [];
	return entry.message.content.filter((block) => block.type === "image");
}

describe("images are fitted before they are logged and sent", () => {
	const large = corners(3136, 64, "png");

	test("in prompts from programs and in attachments of hooks", async () => {
		const { session, provider } = await start();
		provider.reply("seen");
		await session.prompt("look", {
			images: [large],
			attachments: [{ id: "a", type: "image", fileName: "a.gif", mimeType: GIF.mimeType, size: 42, content: GIF.data }],
		});
		const [first, second] = imagesIn(session, 1);
		expect(first && cornersOf(first)).toMatchObject({ width: 1568, height: 32 });
		expect(second?.mimeType).toBe("image/png");
		const { path = null } = Reflect.get(first ?? {}, "original") ?? {};
		expect(existsSync(path)).toBe(true);
		const sent = JSON.stringify(provider.requests[0]?.body);
		expect(sent).toContain(`data:image/png;base64,${first?.data}`);
		// The original stays here.
		expect(sent).not.toContain(path);
	});

	test.each([
		["names it", { kind: "new" as const }, true],
		["does not exist", { kind: "memory" as const }, false],
	])("and the original is kept at the end of a session whose file %s: %#", async (_, kind, isKept) => {
		const { session, provider } = await start({ session: kind });
		provider.reply("seen");
		await session.prompt("look", { images: [large] });
		const { path = null } = Reflect.get(imagesIn(session, 1)[0] ?? {}, "original") ?? {};
		expect(existsSync(path)).toBe(true);
		await session.dispose();
		expect(existsSync(path)).toBe(isKept);
	});

	test("and the original of a queued prompt that was never sent is deleted at the end, but no file of the user", async () => {
		const file = join(tempDir(), "mine.png");
		writeFileSync(file, Buffer.from(large.data, "base64"));
		const { session, provider, agentDir } = await start({ session: { kind: "new" } });
		provider.on(() => new Promise(() => {}));
		const run = session.prompt("go");
		await expect.poll(() => provider.requests.length).toBe(1);
		await session.prompt("look", { images: [large, { ...large, path: file }] });
		const saved = () => readdirSync(join(agentDir, "tmp")).filter((name) => name.startsWith("image-"));
		expect(saved()).toHaveLength(1);
		await session.dispose();
		await run;
		expect(saved()).toEqual([]);
		expect(existsSync(file)).toBe(true);
	});

	test("in results of any tool", async () => {
		const shoot = {
			name: "shoot",
			description: "Takes a picture",
			parameters: { type: "object" as const, properties: {} },
			run: async () => ({ content: [large, { type: "image" as const, data: "AAAA", mimeType: "image/bmp" }] }),
		};
		const { session, provider } = await start({ extraTools: [shoot] });
		provider.reply([toolCall("shoot", {})], "done");
		await session.prompt("go");
		const [image] = imagesIn(session, 3);
		expect(image && cornersOf(image).width).toBe(1568);
		expect(JSON.stringify(session.entries[3])).toContain("[Cannot send the image: it is damaged, or not a PNG");
	});

	test("in the order of the prompts, although scaling takes time", async () => {
		const { session, provider, sent } = await start();
		provider.on(() => "ok");
		await Promise.all([session.prompt("first", { images: [large] }), session.prompt("second")]);
		await vi.waitFor(() => expect(session.isRunning).toBe(false), 10_000);
		expect(sent(provider.requests.length).filter((line) => line.startsWith("user:"))).toEqual([
			"user: first",
			"user: second",
		]);
	});

	test("a prompt with an image that cannot be sent is refused and not logged", async () => {
		const { session } = await start();
		const images = [{ type: "image" as const, data: "AAAA", mimeType: "image/bmp" }];
		await expect(session.prompt("look", { images })).rejects.toMatchObject({ code: "bad_arguments" });
		expect(session.entries).toHaveLength(1);
	});
});

describe("a refused image", () => {
	async function refused(options: TestSessionOptions = {}): Promise<TestSession> {
		const started = await start(options);
		started.provider.reply(httpError(400, {}, REFUSED), "I cannot see it");
		await started.session.prompt("look", { images: [png(8, 8)] });
		return started;
	}

	test("is replaced by a placeholder as an entry, and the request is sent again", async () => {
		const { session, provider, sent } = await refused();
		expect(imagesSent(provider)).toEqual([1, 0]);
		expect(session.entries.map(({ type }) => type)).toEqual(["session", "message", "image_omission", "message"]);
		expect(session.entries[2]).toEqual({
			type: "image_omission",
			timestamp: expect.any(String),
			images: [{ digest: expect.stringMatching(/^[0-9a-f]{64}$/), entryIndex: 1 }],
			provider: "loopback",
			modelId: "scripted",
			reason: `400 ${REFUSED}`,
		});
		expect(sent(2)).toEqual([
			`user: look\n[An image was here. loopback refused it, so it is not sent: 400 ${REFUSED}]`,
		]);
		expect(imagesIn(session, 1)).toEqual([png(8, 8)]);
		provider.reply("fine");
		await session.prompt("and now?");
		expect(imagesSent(provider)).toEqual([1, 0, 0]);
	});

	test("is sent again after /uncompact", async () => {
		const { session, provider } = await refused();
		expect(await session.prompt("/uncompact")).toMatchObject({
			status: expect.stringMatching(/^Undid the omission of images in entry 2: \d+ → \d+ tokens$/),
		});
		provider.reply("now I see it");
		await session.prompt("again");
		expect(imagesSent(provider)).toEqual([1, 0, 1]);
	});

	test("in a tool's result does not stop the run", async () => {
		const shoot = {
			name: "shoot",
			description: "Takes a picture",
			parameters: { type: "object" as const, properties: {} },
			run: async () => ({ content: [png(8, 8)] }),
		};
		const { session, provider } = await start({ extraTools: [shoot] });
		provider.reply([toolCall("shoot", {})], httpError(400, {}, "Could not process image"), "done");
		const { outcome } = (await session.prompt("go")) as { outcome: { last: { stopReason: string } | null } };
		expect(outcome.last?.stopReason).toBe("stop");
		expect(imagesSent(provider)).toEqual([0, 1, 0]);
	});

	test("is omitted at once, even if the server calls it an internal error", async () => {
		const { session, provider } = await start();
		provider.reply(httpError(500, {}, "image input is not supported - hint: provide the mmproj"), "ok");
		await session.prompt("look", { images: [png(8, 8)] });
		expect(imagesSent(provider)).toEqual([1, 0]);
	});

	test("from a hook is omitted, wherever the hook puts it", async () => {
		const { data, mimeType } = png(8, 8);
		const image = JSON.stringify({ type: "image", data, mimeType });
		const { session, provider } = await start({
			hooks: {
				"add.ts": `export default (pi) => {
					pi.on("context", ({ messages }) => ({
						messages: [{ message: { role: "user", content: [${image}], timestamp: 0 }, entryIndex: null }, ...messages],
					}));
				};`,
			},
		});
		provider.reply(httpError(400, {}, "Could not process image"), "ok", "ok");
		await session.prompt("look");
		await session.prompt("again");
		expect(imagesSent(provider)).toEqual([1, 0, 0]);
		expect(omissions(session)).toMatchObject([{ images: [{ entryIndex: null }] }]);
	});

	test("is found: first those beyond the limits, then new ones, then all", async () => {
		const { session, provider } = await start();
		provider.reply("one");
		await session.prompt("old", { images: [png(8, 8)] });
		provider.reply(httpError(400, {}, "Could not process image"), httpError(400, {}, "Could not process image"), "two");
		await session.prompt("new", { images: [png(9, 9), png(10, 10)] });
		expect(imagesSent(provider)).toEqual([1, 3, 1, 0]);
		expect(omissions(session).map(({ images }) => images.map(({ entryIndex }) => entryIndex))).toEqual([[3, 3], [1]]);
	});

	test("is one of the older half if all together are too many", async () => {
		const { session, provider } = await start();
		provider.on(() => {
			const tooMany = (imagesSent(provider).at(-1) ?? 0) > 1;
			return tooMany ? httpError(400, {}, "At most 1 image(s) may be provided in one request.") : "ok";
		});
		await session.prompt("look", { images: [png(8, 8), png(9, 9), png(10, 10)] });
		expect(imagesSent(provider)).toEqual([3, 1]);
		expect(JSON.stringify(provider.requests[1]?.body)).toContain(png(10, 10).data);
	});

	test("of an old session is found by its size", async () => {
		const path = join(tempDir(), "old.jsonl");
		const timestamp = "2026-01-02T03:04:05.678Z";
		const entries = [jpegHeader(9000, 9000), png(8, 8)].map((image) => ({
			type: "message",
			timestamp,
			message: { role: "user", content: [image], timestamp: 1 },
		}));
		const header = { type: "session", version: 1, id: "old", timestamp, cwd: "/" };
		writeFileSync(path, [header, ...entries].map((line) => `${JSON.stringify(line)}\n`).join(""));
		const { session, provider } = await start({ session: { kind: "open", target: path } });
		provider.reply(httpError(400, {}, "image dimensions exceed max allowed size: 8000 pixels"), "ok");
		await session.prompt("hi");
		expect(imagesSent(provider)).toEqual([2, 1]);
		expect(omissions(session)[0]?.images).toMatchObject([{ entryIndex: 1 }]);
	});
});

test("an error that no image caused ends the run after all images are omitted, and other errors omit nothing", async () => {
	const { session, provider } = await start();
	provider.on(() => httpError(400, {}, "the image of the model is broken"));
	await session.prompt("look", { images: [png(8, 8)] });
	expect(imagesSent(provider)).toEqual([1, 0]);
	provider.on(() => httpError(400, {}, "temperature must be between 0 and 1"));
	await session.prompt("look", { images: [png(9, 9)] });
	expect(omissions(session)).toHaveLength(1);
	expect(imagesSent(provider)).toEqual([1, 0, 1]);
});

test("a model without vision gets placeholders, the user sees a notice once, and a model with vision gets the images again", async () => {
	const provider = await startProvider();
	const { session, notices } = await startSession({ provider, modelOptions: { input: ["text"] } });
	provider.on(() => "ok");
	await session.prompt("hello");
	expect(notices()).toEqual([]);
	await session.prompt("look", { images: [png(8, 8)] });
	await session.prompt("and now?");
	expect(imagesSent(provider)).toEqual([0, 0, 0]);
	expect(notices()).toEqual(["scripted does not accept images: it gets a placeholder for each image in the context"]);
	session.setModel({ ...provider.model({ id: "seeing", input: ["text", "image"] }) });
	await session.prompt("look again");
	expect(imagesSent(provider).at(-1)).toBe(1);
});

test("no sequence of images and model switches leaves a session whose next request is refused", async () => {
	/** Servers that differ in what they refuse. */
	const servers = {
		any: () => null,
		blind: (count: number) => (count > 0 ? "image input is not supported" : null),
		few: (count: number) => (count > 2 ? "At most 2 image(s) may be provided in one request." : null),
		picky: (_: number, body: string) => (body.includes(png(9, 9).data) ? "Could not process image" : null),
	};
	type Server = keyof typeof servers;
	const names = Object.keys(servers) as Server[];
	const step = fc.record({
		model: fc.constantFrom(...names, "text"),
		images: fc.array(fc.constantFrom(png(8, 8), png(9, 9), GIF, corners(1600, 8, "jpeg")), { maxLength: 3 }),
		undo: fc.boolean(),
	});
	await fc.assert(
		fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 5 }), async (steps) => {
			const { session, provider } = await start();
			provider.on(({ body, messages }) => {
				const count = messages.reduce((sum, { images }) => sum + images, 0);
				const server = names.find((name) => name === body.model) ?? "any";
				const error = servers[server](count, JSON.stringify(body));
				return error === null ? "ok" : httpError(400, {}, error);
			});
			for (const { model, images, undo } of steps) {
				session.setModel(provider.model({ id: model, input: model === "text" ? ["text"] : ["text", "image"] }));
				if (undo) await session.prompt("/uncompact");
				const result = await session.prompt("look", { images });
				expect(result.kind === "run" && result.outcome.last?.stopReason).toBe("stop");
			}
			expect(imagesOf(session.context.messages).length).toBeLessThanOrEqual(15);
			expect(provider.takeViolations()).toEqual([]);
			session.dispose();
		}),
		{ numRuns: 12 },
	);
}, 60_000);
