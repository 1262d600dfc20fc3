import type { SessionComponents } from "../session/session-components.js";
import { FLAG } from "./input.js";
import { operation } from "./operation.js";

/** Whether failed requests are repeated; for this session only, not saved. */
export const setAutoRetry = operation({
	request: null,
	run({ store }: SessionComponents, enabled: boolean): void {
		store.settings.override("retry.enabled", enabled);
	},
	rpc: {
		command: "set_auto_retry",
		input: { type: "object", required: ["enabled"], properties: { enabled: FLAG } },
		async answer(run, { enabled }) {
			run(enabled);
			return null;
		},
	},
});
