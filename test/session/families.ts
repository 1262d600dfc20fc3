import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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

/** Today's models, one per family and wire format. */
export const TODAY = {
	anthropic: ["anthropic/claude-opus-5-5", "anthropic-messages"],
	openai: ["openai/gpt-6-sol", "openai-responses"],
	google: ["google/gemini-3.8-flash", "google-generative-ai"],
	openrouter: ["openrouter/openai/gpt-6-sol", "openai-completions"],
} as const satisfies Record<string, readonly [name: string, api: LoopbackApi]>;

export type FamilyName = keyof typeof TODAY;
export const FAMILY_NAMES = ["anthropic", "openai", "google", "openrouter"] as const satisfies readonly FamilyName[];
export const PAIRS = FAMILY_NAMES.flatMap((from) => FAMILY_NAMES.map((to) => [from, to] as const));

/** Signatures of recorded replies, and of those of the tests. Base64, as the strictest of the providers requires. */
export const SIGNATURES = ["Zmlyc3Qtc2lnbmF0dXJl", "c2Vjb25kLXNpZ25hdHVyZQ=="] as const;

/** A reply that thinks, speaks and calls two tools, one of which returns an image. */
export function busyReply(name: string) {
	return [
		thinking(`${name} thinks`, SIGNATURES[0]),
		text(`${name} speaks`),
		toolCall("read", { path: "picture.png" }),
		toolCall("ls", { path: "." }),
	];
}

/** A session whose models of the shipped list are served by a loopback provider. @param recorded a session file to continue */
export async function startFamilies(recorded?: string) {
	const provider = await startProvider();
	const [agentDir, cwd] = [tempAgentDir(), tempDir("pi-project-")];
	writeFileSync(join(cwd, "picture.png"), Buffer.from(png(8, 8).data, "base64"));
	const path = join(cwd, "session.jsonl");
	if (recorded) copyFileSync(recorded, path);
	const started = await startSession({
		provider,
		agentDir,
		cwd,
		...(recorded && { session: { kind: "open", target: path } }),
	});
	const providers = Object.fromEntries(
		Object.entries(TODAY).map(([name, [, api]]) => [name, { baseUrl: provider.baseUrl(api), apiKey: "key" }]),
	);
	writeFiles(agentDir, { "models.json": { providers } });
	const { session } = started;
	await session.prompt("/reload");
	session.setThinkingLevel("high");
	const model = (name: string) => session.setModel(name);
	/** Runs a prompt. @returns the last request of the run, which the provider accepted */
	const run = async (prompt: string, ...replies: Parameters<typeof provider.reply>): Promise<ProviderRequest> => {
		provider.reply(...replies);
		const result = await session.prompt(prompt, { images: prompt === "look" ? [png(4, 4)] : [] });
		if (result.kind !== "run" || result.outcome.last?.stopReason !== "stop") throw new Error(JSON.stringify(result));
		const request = provider.requests.at(-1);
		if (!request) throw new Error("no request");
		return request;
	};
	return { ...started, provider, model, run };
}

/** The calls of a request with whether they have a result, which the provider has paired. */
export function callsOf({ messages }: ProviderRequest) {
	return messages.flatMap(({ toolCalls = [] }) =>
		toolCalls.map(({ id, name }) => {
			const result = messages.find(({ toolCallId }) => toolCallId === id);
			return [name, result?.role, (result?.images ?? 0) > 0 || result?.text !== ""];
		}),
	);
}

export const CALLS = [
	["read", "tool", true],
	["ls", "tool", true],
];

export const imagesIn = ({ messages }: ProviderRequest) => messages.reduce((sum, message) => sum + message.images, 0);
export const saidIn = ({ messages }: ProviderRequest) => messages.map((message) => message.text).join("\n");
export const thoughtIn = ({ messages }: ProviderRequest) =>
	messages.flatMap((message) => message.thinking ?? []).join("\n");
