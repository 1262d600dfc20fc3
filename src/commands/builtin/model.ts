import { PiError } from "../../errors.js";
import { type KnownModel, modelFacts } from "../../models/model-facts.js";
import { modelName, type ResolvedModel } from "../../models/models.js";
import { nearestThinkingLevel, thinkingLevels } from "../../models/thinking-levels.js";
import type { BuiltinCommandContext, CommandSession, SlashCommand } from "../command.js";
import type { ModelOffer } from "../pickers.js";
import { logInTo } from "./login.js";
import { hint } from "./report.js";

/** `/model [provider/id]`: chooses the model; append `:high` to set the thinking level. */
export const modelCommand: SlashCommand = {
	name: "model",
	argumentHint: "[provider/id]",
	description: "Choose the model",
	complete: (prefix, session) => completions(prefix, session),
	async run(context) {
		const { session, shell, ui, rest, signal } = context;
		const onWait = (line: string) => ui.notify(line, "info");
		const listHint = shell ? "list them with /model" : undefined;
		const chosen = rest ? await session.models.resolve(rest, { signal, onWait, listHint }) : await pickModel(context);
		// The dialogs close and the search ends when the command is canceled.
		if (!chosen || signal.aborted) return;
		const { model, thinkingLevel } = chosen;
		const hasKey = session.models.keyState(model.provider) !== "none";
		if (!hasKey && shell && !(await logInTo(model.provider, context))) return;
		if (signal.aborted) return;
		await session.setModel(model, thinkingLevel);
		const thinking =
			thinkingLevel && model.reasoning ? ` · thinking: ${nearestThinkingLevel(model, thinkingLevel)}` : "";
		return hint(context, `Model: ${modelName(model)}${thinking}`);
	},
};

function completions(prefix: string, { models }: CommandSession) {
	const wanted = prefix.toLowerCase();
	const usable = models.offers().flatMap(({ model, key }) => (key === "none" ? [] : [model]));
	const found = usable.filter((model) => modelName(model).toLowerCase().includes(wanted));
	if (found.length > 0) return found.map((model) => ({ value: modelName(model), description: model.name }));
	const colon = prefix.lastIndexOf(":");
	const named = usable.find((model) => modelName(model) === prefix.slice(0, colon));
	const known = named?.reasoning ? thinkingLevels(named) : [];
	const levels = known.filter((level) => level.startsWith(prefix.slice(colon + 1)));
	return levels.map((level) => ({ value: `${prefix.slice(0, colon)}:${level}`, description: `thinking: ${level}` }));
}

async function pickModel({ session, ui, shell, signal }: BuiltinCommandContext): Promise<ResolvedModel | null> {
	if (shell?.pickModel) return shell.pickModel({ models: session.models, current: session.model }, signal);
	// Finds the models of local servers too.
	await session.availableModels();
	const offers = session.models.offers().filter(({ key }) => key !== "none");
	if (offers.length === 0) {
		throw new PiError("model_missing", "No model is available yet", {
			hint: "set an API key such as ANTHROPIC_API_KEY, start a local server, or run pi --demo",
		});
	}
	const current = session.model ? modelName(session.model) : "";
	const selected = offers.findIndex(({ model }) => modelName(model) === current);
	const model = await ui.select(
		"Which model?",
		offers.map((offer) => option(offer, current)),
		{ selected },
	);
	return model && { model };
}

function option({ model, isPriced }: ModelOffer, current: string) {
	const name = modelName(model);
	const { context, priceText, callsTools } = modelFacts(model, isPriced);
	const mark = name === current ? "current · " : "";
	const { retired }: KnownModel = model;
	return {
		label: name,
		value: model,
		description: `${mark}${context} context · ${priceText}${callsTools ? "" : " · cannot call tools"}${retired ? " · retired" : ""}`,
	};
}
