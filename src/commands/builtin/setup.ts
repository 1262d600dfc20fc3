import { PiError } from "../../errors.js";
import { LOCAL_SERVERS } from "../../models/local-servers.js";
import { modelName } from "../../models/models.js";
import type { BuiltinCommandContext, SlashCommand } from "../command.js";
import { chooseAccount } from "./login.js";

type Way = "login" | "key" | "local" | "demo" | "later";

/** `/setup`: offers the ways to connect a model. The terminal modes run it when they start without a model. */
export const setupCommand: SlashCommand = {
	name: "setup",
	description: "Connect a model: log in, API key or local server",
	async run(context) {
		const { session, ui, shell } = context;
		if (!shell) {
			throw new PiError("not_a_terminal", "/setup needs a terminal", {
				hint: "set an API key variable such as ANTHROPIC_API_KEY instead",
			});
		}
		const question = session.model ? "How do you want to connect a model?" : "pi has no model yet";
		// A canceled choice returns to this list.
		for (;;) {
			const way = await ui.select<Way>(question, shell.startDemo ? WAYS : WAYS.filter(({ value }) => value !== "demo"));
			if (way === null || way === "later") {
				return session.model ? undefined : { status: "No model yet · run /setup to connect one" };
			}
			if (way === "demo") {
				shell.startDemo?.();
				return;
			}
			const status = way === "local" ? await chooseLocalModel(context) : await saveAccountOf(way, context);
			if (status !== null) return { status };
		}
	},
};

const WAYS: readonly { label: string; value: Way; description: string }[] = [
	{ label: "Log in", value: "login", description: "with a subscription, in the browser" },
	{ label: "Paste an API key", value: "key", description: "from Anthropic, OpenAI, Google or another provider" },
	{ label: "Local server", value: "local", description: "Ollama, LM Studio, llama.cpp or vLLM on this machine" },
	{ label: "Demo", value: "demo", description: "see pi work offline with a scripted model" },
	{ label: "Not now", value: "later", description: "" },
];

async function saveAccountOf(kind: "login" | "key", context: BuiltinCommandContext): Promise<string | null> {
	const choices = (await context.session.accounts.choices()).filter((choice) => choice.kind === kind);
	return chooseAccount("Which provider?", choices, context);
}

async function chooseLocalModel({ session, ui }: BuiltinCommandContext): Promise<string | null> {
	const servers: ReadonlySet<string> = new Set(LOCAL_SERVERS);
	const models = (await session.availableModels()).filter(({ provider }) => servers.has(provider));
	if (models.length === 0) {
		ui.notify(
			"No model server found on this machine · start one, for example with `ollama serve`, and choose again",
			"warning",
		);
		return null;
	}
	const options = models.map((model) => ({ label: model.name, value: model, description: modelName(model) }));
	const model = models.length === 1 ? models[0] : await ui.select("Which model?", options);
	if (!model) return null;
	await session.setModel(model);
	return `Model: ${modelName(model)}`;
}
