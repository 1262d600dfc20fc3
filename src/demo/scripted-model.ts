import type { Model } from "@mariozechner/pi-ai";
import { type PlayOptions, playReply } from "./play-reply.js";
import { nextReply } from "./script.js";

/** The API name of the scripted model in pi-ai. */
const DEMO_API = "pi-demo";

/** The model of the demo. It runs in this process, without key or network. */
const DEMO_MODEL: Model<typeof DEMO_API> = {
	id: "scripted",
	name: "Demo (scripted)",
	api: DEMO_API,
	provider: "demo",
	baseUrl: "",
	reasoning: true,
	input: ["text"],
	cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
	contextWindow: 32_000,
	maxTokens: 4_096,
};

/**
 * Loads pi-ai and registers the scripted model with it. A second call replaces the pace.
 * @returns the model
 */
export async function registerDemoModel(options: PlayOptions = {}): Promise<Model<typeof DEMO_API>> {
	const { createAssistantMessageEventStream, registerApiProvider } = await import("../util/pi-ai.js");
	const stream = (
		model: Model<typeof DEMO_API>,
		context: Parameters<typeof nextReply>[0],
		{ signal }: { signal?: AbortSignal } = {},
	) => {
		const events = createAssistantMessageEventStream();
		void playReply(events, model, context, nextReply(context), { ...options, signal });
		return events;
	};
	registerApiProvider({ api: DEMO_API, stream, streamSimple: stream }, DEMO_API);
	return DEMO_MODEL;
}
