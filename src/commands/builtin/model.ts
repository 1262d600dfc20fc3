import type { Api, Model } from "@mariozechner/pi-ai";
import { PiError } from "../../errors.js";
import { nearest } from "../../util/nearest.js";
import type { CommandHost, SlashCommand } from "../command.js";
import type { CommandUI } from "../command-ui.js";

/** `/model [provider/id]`: chooses the model. */
export const modelCommand: SlashCommand = {
	name: "model",
	argumentHint: "[provider/id]",
	description: "Choose the model",
	async complete(prefix, session) {
		const wanted = prefix.toLowerCase();
		const models = await session.availableModels();
		return models
			.filter((model) => nameOf(model).toLowerCase().includes(wanted))
			.map((model) => ({ value: nameOf(model), description: model.name }));
	},
	async run({ session, ui, rest }) {
		const model = rest ? await findModel(session, rest) : await pickModel(session, ui);
		if (!model) return;
		await session.setModel(model);
		return { status: `Model: ${nameOf(model)}` };
	},
};

function nameOf({ provider, id }: Model<Api>): string {
	return `${provider}/${id}`;
}

async function pickModel(session: CommandHost, ui: CommandUI): Promise<Model<Api> | null> {
	const models = await session.availableModels();
	if (models.length === 0) {
		throw new PiError("model_missing", "No model can be used yet", {
			hint: "set a key such as ANTHROPIC_API_KEY, start a local server, or run pi --demo",
		});
	}
	const current = session.model ? nameOf(session.model) : "";
	const options = models.map((model) => ({
		label: nameOf(model),
		value: model,
		description: `${nameOf(model) === current ? "current · " : ""}${thousands(model.contextWindow)} context`,
	}));
	return ui.select("Which model?", options, { selected: models.findIndex((model) => nameOf(model) === current) });
}

async function findModel(session: CommandHost, text: string): Promise<Model<Api>> {
	const models = await session.allModels();
	const usable = await session.availableModels();
	const wanted = text.toLowerCase();
	const found =
		models.find((model) => nameOf(model).toLowerCase() === wanted) ??
		usable.find(({ id }) => id.toLowerCase() === wanted) ??
		models.find(({ id }) => id.toLowerCase() === wanted) ??
		usable.find((model) => nameOf(model).toLowerCase().includes(wanted));
	if (found) return found;
	const near = nearest(
		text,
		models.flatMap((model) => [nameOf(model), model.id]),
	);
	throw new PiError("model_unknown", `There is no model "${text}"`, {
		hint: near.length > 0 ? `did you mean ${near.join(", ")}?` : "see /model",
	});
}

function thousands(tokens: number): string {
	return tokens >= 1_000_000 ? `${Math.round(tokens / 100_000) / 10}M` : `${Math.round(tokens / 1000)}k`;
}
