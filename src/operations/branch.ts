import type { SessionComponents } from "../session/session-components.js";
import { operation } from "./operation.js";

/**
 * Continues in a new session with the entries before a user message.
 * @returns what the user typed for that message, for the editor; null when a hook canceled it
 * @throws PiError `bad_arguments` when the entry is not a user message; `session_busy`
 */
export const branch = operation({
	request: "switch",
	run: (session: SessionComponents, entryIndex: number): Promise<string | null> => session.lifecycle.branch(entryIndex),
	ctx: {
		member: "branch",
		callers: "commands",
		returns: "promise",
		async call(run, { surface }, _, entryIndex) {
			const text = await run(entryIndex);
			if (text !== null) surface.shell?.setEditorText(text);
			return text !== null;
		},
	},
	rpc: {
		command: "branch",
		concurrency: "barrier",
		input: { type: "object", required: ["entryIndex"], properties: { entryIndex: { type: "integer" } } },
		async answer(run, { entryIndex }) {
			const text = await run(entryIndex);
			return { text: text ?? "", cancelled: text === null };
		},
	},
});
