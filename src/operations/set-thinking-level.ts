import { PiError } from "../errors.js";
import { textOf } from "../hooks/dialog-options.js";
import { THINKING_LEVELS, type ThinkingLevel } from "../log/entry.js";
import { checkThinkingLevel } from "../services/check-options.js";
import type { SessionComponents } from "../session/session-components.js";
import { THINKING_LEVEL } from "./input.js";
import { operation } from "./operation.js";

/** Switches to another thinking level. @throws PiError `bad_arguments` for an unknown level */
export const setThinkingLevel = operation({
	request: null,
	run(session: SessionComponents, level: ThinkingLevel): void {
		checkThinkingLevel(level);
		session.state.setThinkingLevel(level);
	},
	ctx: {
		member: "setThinkingLevel",
		callers: "all",
		returns: "value",
		call(run, _, __, level: unknown) {
			const known = THINKING_LEVELS.find((name) => name === level);
			if (known !== undefined) return run(known);
			throw new PiError("bad_arguments", `ctx.setThinkingLevel does not accept ${textOf(level)}`, {
				hint: `the levels are ${THINKING_LEVELS.join(", ")}`,
			});
		},
	},
	rpc: {
		command: "set_thinking_level",
		input: { type: "object", required: ["level"], properties: { level: THINKING_LEVEL } },
		async answer(run, { level }) {
			run(level);
			return null;
		},
	},
});
