import type { SessionConfigOption, SessionConfigSelectOption } from "@agentclientprotocol/sdk";
import { modelName } from "../../models/models.js";
import type { AgentSession } from "../../sdk/agent-session.js";
import { invalidParams } from "./acp-errors.js";
import { modesOf, setMode } from "./modes.js";

type ConfigSession = Pick<
	AgentSession,
	| "model"
	| "thinkingLevel"
	| "setModel"
	| "setThinkingLevel"
	| "controls"
	| "palette"
	| "log"
	| "prompt"
	| "completeArguments"
>;

/** The options of a session that a client can change: model, thinking level, and mode if the session has modes. */
export async function configOptions(session: ConfigSession): Promise<SessionConfigOption[]> {
	const [models, modes] = await Promise.all([offeredModels(session), modesOf(session)]);
	const levels = session.controls.thinkingLevels();
	const options: SessionConfigOption[] = [];
	if (session.model) {
		options.push({
			...{ type: "select", id: "model", name: "Model", category: "model" },
			currentValue: modelName(session.model),
			options: models.map((model): SessionConfigSelectOption => {
				const value = modelName(model);
				return { value, name: model.name || value, description: value };
			}),
		});
	}
	if (levels.length > 1) {
		const all = levels.includes(session.thinkingLevel) ? levels : [...levels, session.thinkingLevel];
		options.push({
			...{ type: "select", id: "thinking", name: "Thinking", category: "thought_level" },
			description: "How much the model thinks before it answers",
			currentValue: session.thinkingLevel,
			options: all.map((value) => ({ value, name: value })),
		});
	}
	if (modes) {
		options.push({
			...{ type: "select", id: "mode", name: "Mode", category: "mode" },
			currentValue: modes.currentModeId,
			options: modes.availableModes.map(({ id, name, description }) => ({ value: id, name, description })),
		});
	}
	return options;
}

/** Changes an option. @throws RequestError for an option or value that the session does not have */
export async function setConfigOption(session: ConfigSession, id: string, value: unknown): Promise<void> {
	const unknown = (known: readonly string[]) =>
		invalidParams(`Option ${id} has no value ${JSON.stringify(value)}`, `use ${known.join(", ")}`);
	switch (id) {
		case "model": {
			const models = await offeredModels(session);
			const model = models.find((candidate) => modelName(candidate) === value);
			if (!model) throw unknown(models.map(modelName));
			return session.setModel(model);
		}
		case "thinking": {
			const levels = session.controls.thinkingLevels();
			const level = levels.find((candidate) => candidate === value);
			if (level === undefined) throw unknown(levels);
			return session.setThinkingLevel(level);
		}
		case "mode":
			return setMode(session, String(value));
		default: {
			const known = (await configOptions(session)).map((option) => option.id);
			throw invalidParams(`The session has no option ${JSON.stringify(id)}`, `use ${known.join(", ")}`);
		}
	}
}

/** The available models; the current one is among them even if its key is gone. */
async function offeredModels({ model, controls }: Pick<ConfigSession, "model" | "controls">) {
	const models = await controls.availableModels();
	const isOffered = !model || models.some((candidate) => modelName(candidate) === modelName(model));
	return isOffered ? models : [model, ...models];
}
