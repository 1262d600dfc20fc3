import type { Api, Model } from "@mariozechner/pi-ai";
import { describeError, PiError } from "../errors.js";
import { textOf } from "../hooks/dialog-options.js";
import type { ThinkingLevel } from "../log/entry.js";
import { checkModel, checkThinkingLevel } from "../services/check-options.js";
import type { SessionComponents } from "../session/session-components.js";
import { isRecord } from "../util/is-record.js";
import { TEXT } from "./input.js";
import { operation } from "./operation.js";

/**
 * Switches to another model.
 * @param model a model, or its name as in the option `model`, which may name a level too
 * @throws PiError `model_unknown` for an unknown name, `bad_arguments` for a malformed model
 */
export const setModel = operation({
	request: null,
	async run(session: SessionComponents, model: Model<Api> | string, thinkingLevel?: ThinkingLevel): Promise<void> {
		const { state, models } = session;
		if (typeof model !== "string") checkModel(model);
		if (thinkingLevel !== undefined) checkThinkingLevel(thinkingLevel);
		const chosen = typeof model === "string" ? await models.offers.resolve(model) : { model };
		state.setModel(chosen.model, thinkingLevel ?? chosen.thinkingLevel);
		prepareModel(session, chosen.model);
	},
	ctx: {
		member: "setModel",
		callers: "all",
		returns: "promise",
		async call(run, _, __, model: unknown) {
			if (isModel(model)) return run(model);
			throw new PiError("bad_arguments", `ctx.setModel expects a model, not ${textOf(model)}`, {
				hint: "ctx.findModel(provider, id) and ctx.availableModels() return models",
			});
		},
	},
	rpc: {
		command: "set_model",
		input: { type: "object", required: ["provider", "modelId"], properties: { provider: TEXT, modelId: TEXT } },
		async answer(run, { provider, modelId }, { session }) {
			const model = await session.models.list.findWithKey(provider, modelId);
			if (!model) {
				throw new PiError("model_unknown", `Model ${provider}/${modelId} does not exist or has no API key`, {
					hint: "get_available_models lists the available models",
				});
			}
			await run(model);
			return model;
		},
	},
});

/** Loads the client of a model while the user types. @internal */
export function prepareModel({ models, events }: SessionComponents, model: Model<Api>): void {
	models.client.prepare(model).catch((error: unknown) => {
		events.emit({ type: "notice", level: "warning", message: describeError(error) });
	});
}

function isModel(value: unknown): value is Model<Api> {
	return isRecord(value) && typeof value.provider === "string" && typeof value.id === "string";
}
