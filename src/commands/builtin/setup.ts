import type { Api, Model } from "@mariozechner/pi-ai";
import type { SettingPath } from "../../config/settings-schema.js";
import { describeError, PiError } from "../../errors.js";
import { cleanKey } from "../../models/key-shape.js";
import { LOCAL_SERVERS } from "../../models/local-servers.js";
import { modelName } from "../../models/models.js";
import type { BuiltinCommandContext, SlashCommand } from "../command.js";
import { chooseAccount } from "./login.js";

type Way = "login" | "key" | "local" | "server" | "extras" | "demo" | "later";

/** `/setup`: offers the ways to connect a model, and what is off by default. The terminal modes run it when they start without a model. */
export const setupCommand: SlashCommand = {
	name: "setup",
	description: "Connect a model: log in, API key, local server or another address; turn on plan mode and more",
	async run(context) {
		const { session, ui, shell } = context;
		if (!shell) {
			throw new PiError("not_a_terminal", "/setup needs a terminal", {
				hint: "set an API key variable such as ANTHROPIC_API_KEY instead",
			});
		}
		// What the user has set before stays.
		const isNew =
			!session.model && session.settings.list().every(({ path, source }) => source !== "user" || path === VERSION);
		const question = session.model ? "What do you want to set up?" : "pi has no model yet";
		const isOffered = ({ value }: { value: Way }) =>
			(value !== "demo" || shell.startDemo !== undefined) && (value !== "extras" || session.model !== null);
		// A canceled choice returns to this list.
		for (;;) {
			const way = await ui.select<Way>(question, WAYS.filter(isOffered));
			if (way === null || way === "later") {
				return session.model ? undefined : { status: "No model yet · run /setup to connect one" };
			}
			if (way === "demo") {
				shell.startDemo?.();
				return;
			}
			if (way === "extras") {
				const status = await offerExtras(context, false);
				if (status === null) continue;
				return { status };
			}
			const status = await connect(way, context);
			if (status === null) continue;
			if (isNew && !context.signal.aborted) await offerExtras(context, true);
			return { status };
		}
	},
};

/** A setting that pi itself writes. */
const VERSION: SettingPath = "lastChangelogVersion";

/** What is off by default: the task list, and bundled hooks by their names. */
type Extra = "tasks" | "plan-mode" | "question" | "permissions" | "web";

/**
 * Offers what is off by default. A new user is asked once: the answer is saved, and users with settings are not asked.
 * @returns a status line; null when canceled
 */
async function offerExtras({ session, ui, shell }: BuiltinCommandContext, isNew: boolean): Promise<string | null> {
	const { settings } = session;
	const settingOf = (name: SettingPath) => settings.list().find(({ path }) => path === name);
	const { value: saved } = settingOf("hooks") ?? {};
	const hooks = Array.isArray(saved) ? saved.map(String) : [];
	const isOn = (extra: Extra) =>
		extra === "tasks" ? settingOf("features.tasks")?.value === true : hooks.includes(`pi:${extra}`);
	const initial = EXTRAS.filter(({ value, isDefault }) => (isNew ? isDefault : isOn(value))).map(({ value }) => value);
	const chosen = await ui.selectMany?.("What should be on?", EXTRAS, { multiple: true, initial });
	if (!chosen) return null;
	const on = EXTRAS.filter(({ value }) => chosen.includes(value));
	if (!isNew && EXTRAS.every(({ value }) => isOn(value) === chosen.includes(value))) return "Nothing was changed";
	const others = hooks.filter((hook) => !EXTRAS.some(({ value }) => hook.endsWith(`pi:${value}`)));
	const wanted = on.flatMap(({ value }) => (value === "tasks" ? [] : [`pi:${value}`]));
	await settings.set("features.tasks", chosen.includes("tasks"));
	if (hooks.length + wanted.length > 0) await settings.set("hooks", [...others, ...wanted]);
	await session.reload(shell?.rereadFiles?.());
	return on.length === 0 ? "All of it is off" : `On: ${on.map(({ label }) => label.toLowerCase()).join(", ")}`;
}

const EXTRAS: readonly { label: string; value: Extra; description: string; isDefault: boolean }[] = [
	{
		label: "Plan mode",
		value: "plan-mode",
		description: "Shift+Tab: the model reads and plans first",
		isDefault: true,
	},
	{ label: "Questions", value: "question", description: "the model can let you choose", isDefault: true },
	{
		label: "Task list",
		value: "tasks",
		description: "the model shows what is done and what comes next",
		isDefault: true,
	},
	{ label: "Guard", value: "permissions", description: "asks before commands and changes", isDefault: false },
	{
		label: "Web pages",
		value: "web",
		description: "the model fetches pages: their servers see its requests",
		isDefault: false,
	},
];

/** @returns a status line; null when canceled */
function connect(way: "login" | "key" | "local" | "server", context: BuiltinCommandContext): Promise<string | null> {
	if (way === "local") return chooseLocalModel(context);
	return way === "server" ? addServer(context) : saveAccountOf(way, context);
}

const WAYS: readonly { label: string; value: Way; description: string }[] = [
	{ label: "Log in", value: "login", description: "with a subscription, in the browser" },
	{ label: "Paste an API key", value: "key", description: "from Anthropic, OpenAI, Google or another provider" },
	{ label: "Local server", value: "local", description: "Ollama, LM Studio, llama.cpp or vLLM on this machine" },
	{ label: "Another address", value: "server", description: "of an OpenAI-compatible server" },
	{ label: "Demo", value: "demo", description: "see pi work offline with a scripted model" },
	{ label: "Plan mode and more", value: "extras", description: "questions, a task list, a guard, web pages" },
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
	return chooseOf(models, { session, ui });
}

/** Asks for a server and its key, and adds it with the models that it lists. @returns as `connect`, also for a failure */
async function addServer({ session, ui, shell, signal }: BuiltinCommandContext): Promise<string | null> {
	const { updates } = session.models;
	const url = (await ui.input("Address of the server", "https://models.example/v1"))?.trim();
	if (!url || !updates) return null;
	// Before a key is typed for nothing.
	if (!/^https?:\/\//i.test(url)) {
		ui.notify("This is not the address of a server · it looks like https://models.example/v1", "warning");
		return null;
	}
	const key = await shell?.secret("API key (empty if it needs none)");
	if (key === null || key === undefined) return null;
	const server = { url, key: cleanKey(key) };
	const add = async (model?: string) => {
		const provider = await updates.addServer({ ...server, ...(model === undefined ? {} : { model }) }, signal);
		const models = session.models.offers().flatMap(({ model }) => (model.provider === provider ? [model] : []));
		return (await chooseOf(models, { session, ui })) ?? `Added ${provider} · choose a model with /model`;
	};
	shell?.hint?.("Asking the server for its models");
	try {
		return await add();
	} catch (error) {
		if (signal.aborted) return null;
		ui.notify(describeError(error), "warning");
		if (!(error instanceof PiError) || error.code !== "command_failed") return null;
	} finally {
		shell?.hint?.(null);
	}
	try {
		const model = (await ui.input("Model, if the server does not list them", "as the server names it"))?.trim();
		return model ? await add(model) : null;
	} catch (error) {
		ui.notify(describeError(error), "warning");
		return null;
	}
}

/** Selects the only model, or the one that the user chooses. @returns a status line; null when canceled */
async function chooseOf(
	models: readonly Model<Api>[],
	{ session, ui }: Pick<BuiltinCommandContext, "session" | "ui">,
): Promise<string | null> {
	const options = models.map((model) => ({ label: model.name, value: model, description: modelName(model) }));
	const model = models.length === 1 ? models[0] : await ui.select("Which model?", options);
	if (!model) return null;
	await session.setModel(model);
	return `Model: ${modelName(model)}`;
}
