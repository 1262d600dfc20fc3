import type { QueueMode } from "../session/prompt/prompt-queue.js";
import type { SessionComponents } from "../session/session-components.js";
import { operation } from "./operation.js";

/** Whether queued prompts are delivered one per turn or all at once; for this session only, not saved. */
export const setQueueMode = operation({
	request: null,
	run({ store }: SessionComponents, mode: QueueMode): void {
		store.settings.override("queueMode", mode);
	},
	rpc: {
		command: "set_queue_mode",
		input: {
			type: "object",
			required: ["mode"],
			properties: { mode: { anyOf: [{ const: "one-at-a-time" }, { const: "all" }] } },
		},
		async answer(run, { mode }) {
			run(mode);
			return null;
		},
	},
});
