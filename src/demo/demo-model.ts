import type { Model } from "@mariozechner/pi-ai";
import { type PlayOptions, registerScript } from "./play-reply.js";
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

/** Loads pi-ai and registers the model of the demo with it. A second call replaces the pace. */
export async function registerDemoModel(options: PlayOptions = {}): Promise<Model<typeof DEMO_API>> {
	await registerScript(DEMO_API, nextReply, options);
	return DEMO_MODEL;
}
