import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { png } from "../helpers/images.js";
import {
	type LoopbackApi,
	type ProviderRequest,
	startProvider,
	text,
	thinking,
	toolCall,
} from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";

const APIS: readonly LoopbackApi[] = [
	"openai-completions",
	"openai-responses",
	"anthropic-messages",
	"google-generative-ai",
];
const PAIRS = APIS.flatMap((from) => APIS.map((to) => [from, to] as const));

/** Base64, as the strictest of the providers requires. */
const SIGNATURES = { first: "Zmlyc3Qtc2lnbmF0dXJl", second: "c2Vjb25kLXNpZ25hdHVyZQ==" };

/** A reply that thinks, speaks and calls two tools, one of which returns an image. */
function busyReply(name: "first" | "second") {
	return [
		thinking(`${name} thinks`, SIGNATURES[name]),
		text(`${name} speaks`),
		toolCall("read", { path: "picture.png" }),
		toolCall("ls", { path: "." }),
	];
}

/** A session at the end of a run of the first model, and its models. */
async function startPair(from: LoopbackApi, to: LoopbackApi) {
	const provider = await startProvider();
	const [agentDir, cwd] = [tempAgentDir(), tempDir("pi-project-")];
	writeFileSync(join(cwd, "picture.png"), Buffer.from(png(8, 8).data, "base64"));
	const started = await startSession({ provider, agentDir, cwd });
	writeFiles(agentDir, { "models.json": provider.modelsJson({ apis: APIS }) });
	await started.session.prompt("/reload");
	const { session } = started;
	session.setThinkingLevel("low");
	const common = { reasoning: true, maxTokens: 32_000 };
	const first = provider.model({ ...common, api: from, id: "first" });
	const second = provider.model({ ...common, api: to, id: "second" });
	const blind = provider.model({ ...common, api: to, id: "blind", input: ["text"] });
	/** Runs a prompt with a model. @returns the last request of the run, which the provider accepted */
	const run = async (model: typeof first, prompt: string, ...replies: Parameters<typeof provider.reply>) => {
		await session.setModel(model);
		provider.reply(...replies);
		const result = await session.prompt(prompt, { images: prompt === "look" ? [png(4, 4)] : [] });
		expect(result).toMatchObject({ kind: "run", outcome: { last: { stopReason: "stop" } } });
		const request = provider.requests.at(-1);
		if (!request) throw new Error("no request");
		return request;
	};
	await run(first, "look", busyReply("first"), [thinking("first ends", SIGNATURES.first), text("first done")]);
	return { ...started, run, models: { first, second, blind } };
}

/** The calls of a request with their results, which the provider has paired. */
function callsOf({ messages }: ProviderRequest) {
	return messages.flatMap(({ toolCalls = [] }) =>
		toolCalls.map(({ id, name }) => {
			const result = messages.find(({ toolCallId }) => toolCallId === id);
			return [name, result?.role, (result?.images ?? 0) > 0 || result?.text !== ""];
		}),
	);
}

const images = ({ messages }: ProviderRequest) => messages.reduce((sum, message) => sum + message.images, 0);
const said = ({ messages }: ProviderRequest) => messages.map((message) => message.text).join("\n");
const thought = ({ messages }: ProviderRequest) => messages.flatMap((message) => message.thinking ?? []).join("\n");
const CALLS = [
	["read", "tool", true],
	["ls", "tool", true],
];

test.each(PAIRS)(
	"%s → %s: the next model gets calls, results, images and the text of foreign thinking",
	async (from, to) => {
		const { run, models } = await startPair(from, to);
		const request = await run(models.second, "go on", "ok");
		expect(callsOf(request)).toEqual(CALLS);
		expect(images(request)).toBe(2);
		expect(thought(request)).toBe("");
		for (const words of ["first thinks", "first speaks", "first ends", "first done"])
			expect(said(request)).toContain(words);
		// Servers of chat completions get one text.
		expect(said(request)).not.toMatch(/thinksfirst|endsfirst/);
		expect(JSON.stringify(request.body)).not.toContain(SIGNATURES.first);
	},
);

test.each(PAIRS)(
	"%s → %s and back: each model gets its own thinking back, and that of the other as text",
	async (from, to) => {
		const { run, models } = await startPair(from, to);
		await run(models.second, "go on", busyReply("second"), "second done");
		const request = await run(models.first, "and back", "ok");
		expect(callsOf(request)).toEqual([...CALLS, ...CALLS]);
		expect(images(request)).toBe(3);
		expect(thought(request)).toContain("first thinks");
		expect(thought(request)).not.toContain("second");
		expect(said(request)).toContain("second thinks");
		expect(JSON.stringify(request.body)).not.toContain(SIGNATURES.second);
	},
);

test.each(APIS)("%s → Gemini 2, which gets images outside of tool results", async (from) => {
	const { run, models } = await startPair(from, "google-generative-ai");
	const request = await run({ ...models.second, id: "gemini-2.5-pro" }, "go on", "ok");
	expect(callsOf(request)).toEqual(CALLS);
	expect(images(request)).toBe(2);
});

test.each(PAIRS)("%s → %s without vision: images are replaced by a note", async (from, to) => {
	const { run, models } = await startPair(from, to);
	const request = await run(models.blind, "go on", "ok");
	expect(callsOf(request)).toEqual(CALLS);
	expect(images(request)).toBe(0);
	expect(said(request).match(/image omitted: model does not support images/g)).toHaveLength(2);
});
