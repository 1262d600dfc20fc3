import { constants, promises } from "node:fs";
import { isAbsolute } from "node:path";
import { choices } from "../config/json-schema.js";
import { SETTING_ROWS, type SettingPath } from "../config/settings-schema.js";
import { PiError } from "../errors.js";
import { modelName } from "../models/model-match.js";
import { didYouMean } from "../util/nearest.js";
import type { CommandSession, CommandShell } from "./command.js";
import type { EditableSettings, SettingChoice } from "./pickers.js";

/** Maximum number of values that an error names. */
const MAX_NAMED = 12;

/** Lists the values of each setting, and checks a value before it is saved. */
export function createEditableSettings(
	{ settings, models }: Pick<CommandSession, "settings" | "models">,
	shell: Pick<CommandShell, "themes"> | null,
	signal?: AbortSignal,
): EditableSettings {
	const choicesOf = (path: SettingPath): readonly SettingChoice[] | null => {
		if (path === "theme") {
			const themes = shell?.themes?.list() ?? [];
			if (themes.length === 0) return null;
			return themes.map(({ name, description }) => ({ label: name, value: themeValue(name), description }));
		}
		if (path === "defaultProvider") return providers(models.offers());
		if (path === "defaultModel") {
			const usable = models.offers().filter(({ key }) => key !== "none");
			return usable.map(({ model }) => ({ label: modelName(model), value: modelName(model), description: model.name }));
		}
		const schema = SETTING_ROWS.find((row) => row.path === path)?.schema;
		return (schema && choices(schema))?.map((value) => ({ label: String(value), value })) ?? null;
	};
	const check = async (path: SettingPath, value: unknown): Promise<void> => {
		if (typeof value !== "string") return;
		if (path === "shellPath") await checkProgram(value);
		if (path === "theme" && shell?.themes)
			refuseUnknown(`Theme ${JSON.stringify(value)} not found`, value, choicesOf(path) ?? []);
		if (path === "defaultProvider")
			refuseUnknown(`No provider ${JSON.stringify(value)}`, value, providers(models.offers()));
		if (path === "defaultModel") await checkModel(value);
	};
	const checkModel = async (name: string): Promise<void> => {
		const isKnown = () => models.offers().some(({ model }) => name === modelName(model) || name === model.id);
		if (isKnown() || ((await models.findLocal(signal)) && isKnown())) return;
		const names = models.offers().flatMap(({ model }) => [model.id, modelName(model)]);
		throw unknown(`No model ${JSON.stringify(name)}`, name, names);
	};
	return {
		list: () => settings.list().filter(({ schema }) => !schema["x-unlisted"]),
		choices: choicesOf,
		async set(path, value) {
			await check(path, value);
			await settings.set(path, value);
		},
	};
}

/** No theme in the settings means `auto`. */
function themeValue(name: string): string | undefined {
	return name === "auto" ? undefined : name;
}

function providers(offers: ReturnType<CommandSession["models"]["offers"]>): SettingChoice[] {
	const usable = offers.filter(({ key }) => key !== "none");
	const names = new Set([...usable, ...offers].map(({ model }) => model.provider));
	return [...names].map((name) => ({ label: name, value: name }));
}

function refuseUnknown(message: string, value: string, known: readonly SettingChoice[]): void {
	const labels = known.map(({ label }) => label);
	if (!labels.includes(value)) throw unknown(message, value, labels);
}

function unknown(message: string, value: string, known: readonly string[]): PiError {
	const all = known.length > MAX_NAMED ? undefined : `use one of ${known.join(", ")}`;
	const hint = didYouMean(value, known) ?? all;
	return new PiError("bad_arguments", message, hint === undefined ? {} : { hint });
}

async function checkProgram(path: string): Promise<void> {
	const hint = "use the absolute path of a shell, such as /bin/bash";
	const refuse = (problem: string) => new PiError("bad_arguments", `${path} ${problem}`, { hint });
	if (!isAbsolute(path)) throw refuse("is not an absolute path");
	const found = await promises.stat(path).catch(() => null);
	if (!found) throw refuse("does not exist");
	if (!found.isFile()) throw refuse("is not a file");
	await promises.access(path, constants.X_OK).catch(() => {
		throw refuse("is not executable");
	});
}
