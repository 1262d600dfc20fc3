import type { AssistantMessageEventStream } from "@mariozechner/pi-ai";
import type { HookEventContext } from "../hooks/types.js";
import { meterRequests } from "./meter-requests.js";
import type { SessionCore } from "./session-setup.js";

/**
 * Sends a request of a hook with the key of its model. Its usage is written to the log under the name of the hook.
 * @throws PiError `key_missing`, `package_missing`
 */
export async function sendHookRequest(
	core: Pick<SessionCore, "state" | "setup">,
	hook: string,
	[model, context, { headers, ...options } = {}]: Parameters<HookEventContext["stream"]>,
): Promise<AssistantMessageEventStream> {
	const { models, client } = core.setup;
	const [auth] = await Promise.all([models.requestAuth(model), client.prepare(model)]);
	const meter = meterRequests(core, `hook ${hook}`);
	// Nothing waits to be written together with it.
	meter.write();
	const all = { ...auth.headers, ...headers };
	return meter.stream(model, context, {
		...options,
		...(Object.keys(all).length > 0 ? { headers: all } : {}),
		apiKey: auth.apiKey,
	});
}
