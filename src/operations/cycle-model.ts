import type { Api, Model } from "@mariozechner/pi-ai";
import type { SessionComponents } from "../session/session-components.js";
import { NO_INPUT } from "./input.js";
import { operation } from "./operation.js";

/** Switches to the next or previous available model. @returns that model; null when there is no other */
export const cycleModel = operation({
	request: null,
	async run({ models, state }: SessionComponents, direction: 1 | -1): Promise<Model<Api> | null> {
		const usable = await models.list.cycle();
		const at = usable.findIndex(({ id, provider }) => id === state.model?.id && provider === state.model.provider);
		// The model may be none of them: then the first or last one is next.
		const next =
			at === -1 ? usable.at(direction === 1 ? 0 : -1) : usable[(at + direction + usable.length) % usable.length];
		if (!next || (usable.length === 1 && at === 0)) return null;
		state.setModel(next);
		return next;
	},
	rpc: {
		command: "cycle_model",
		input: NO_INPUT,
		async answer(run, _, { session }) {
			const model = await run(1);
			return model && { model, thinkingLevel: session.state.thinkingLevel };
		},
	},
});
