import type { SessionComponents } from "../session/session-components.js";
import { FLAG } from "./input.js";
import { operation } from "./operation.js";

/** Turns automatic compaction on or off; for this session only, not saved. */
export const setAutoCompaction = operation({
	request: null,
	run({ store }: SessionComponents, enabled: boolean): void {
		store.settings.override("compaction.enabled", enabled);
	},
	rpc: {
		command: "set_auto_compaction",
		input: { type: "object", required: ["enabled"], properties: { enabled: FLAG } },
		async answer(run, { enabled }) {
			run(enabled);
			return null;
		},
	},
});
