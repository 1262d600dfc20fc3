/**
 * The requests of hooks. A module of their own, so that a hook that only sends requests loads the client and not the rest of
 * the library, which every start would pay for.
 */
import { homedir } from "node:os";
import type {
	Api,
	AssistantMessage,
	AssistantMessageEventStream,
	Context,
	Model,
	SimpleStreamOptions,
} from "@mariozechner/pi-ai";
import { processEnvironment } from "../config/paths.js";
import { stream as send, streamSimple as sendSimple } from "../util/pi-ai.js";
import { AMBIENT_KEY, findEnvironmentKey } from "./env-keys.js";
import { metered } from "./hook-meter.js";

/** Sends a request with the options of the model's wire format. @throws Error for an unknown format, or without a key */
export function stream(
	model: Model<Api>,
	context: Context,
	options?: SimpleStreamOptions,
): AssistantMessageEventStream {
	return metered(send)(model, context, withEnvironmentKey(model, options));
}

/** Like `stream`, and waits for the end of the reply. */
export async function complete(...request: Parameters<typeof stream>): Promise<AssistantMessage> {
	return stream(...request).result();
}

/** Sends a request with options that all wire formats understand. @throws as `stream` */
export function streamSimple(...[model, context, options]: Parameters<typeof stream>): AssistantMessageEventStream {
	return metered(sendSimple)(model, context, withEnvironmentKey(model, options));
}

/** Like `streamSimple`, and waits for the end of the reply. */
export async function completeSimple(...request: Parameters<typeof streamSimple>): Promise<AssistantMessage> {
	return streamSimple(...request).result();
}

/** Hooks may leave the key to the environment. */
function withEnvironmentKey({ provider }: Model<Api>, options: SimpleStreamOptions = {}): SimpleStreamOptions {
	if (options.apiKey?.trim()) return options;
	const env = { ...processEnvironment(), ...options.env };
	const { key } = findEnvironmentKey(provider, env, homedir()) ?? {};
	// A client finds the credentials of other tools automatically.
	return key === undefined || key === AMBIENT_KEY ? options : { ...options, apiKey: key };
}
