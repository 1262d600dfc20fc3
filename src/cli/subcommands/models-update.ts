import { runEnvironment } from "../../config/paths.js";
import { PiError } from "../../errors.js";
import { builtInModels } from "../../models/built-in-models.js";
import { loadModelSources } from "../../models/model-sources.js";
import { describeCatalog, describeReport } from "../../models/update/describe-update.js";
import { updatableProviders, updateModels } from "../../models/update/update-models.js";
import { networkOf } from "../../network/network.js";
import type { ModelsSubcommand } from "../options.js";
import { printJson, printLines, printNotices, tableLines } from "../standard-io.js";
import type { SubcommandContext } from "./location.js";

/**
 * `pi models update [<provider>...]`: asks providers for their models and prints what is new.
 * @returns 1 if no provider answers, or if the catalog fails and no provider can be asked
 * @throws PiError `bad_arguments` with `--offline` and for a provider of models.json or a hook, `model_unknown` for an unknown provider, `key_missing` without any key
 */
export async function updateModelList(
	{ providers: named }: Extract<ModelsSubcommand, { action: "update" }>,
	{ location, options, io }: SubcommandContext,
): Promise<number> {
	const { paths, env, settings } = location;
	if (options.offline || runEnvironment(env, paths.home).offline) {
		const name = options.offline ? "--offline" : "PI_OFFLINE";
		throw new PiError("bad_arguments", `pi models update needs the network, which ${name} forbids`, {
			hint: `run it without ${name}`,
		});
	}
	const sources = await loadModelSources({ paths, env, settings, onWarning: (line) => printNotices(io, [line]) });
	const { registry, credentials, list } = sources;
	const builtIn = builtInModels();
	for (const provider of named ?? []) {
		registry.ofProvider(provider);
		if (builtIn.lists.providers.includes(provider)) continue;
		const source = credentials.hookOf(provider) ?? paths.models;
		throw new PiError("bad_arguments", `${source} defines the models of ${provider}, so pi does not ask for them`, {
			hint: "add them there",
		});
	}
	const providers = named ?? updatableProviders({ registry, credentials, builtIn });
	if (providers.length === 0) {
		throw new PiError("key_missing", "No provider has a key with which pi could ask for its models", {
			hint: "set ANTHROPIC_API_KEY, OPENAI_API_KEY or another provider's key, or run /login in pi",
		});
	}
	const network = await networkOf(env);
	const report = await updateModels({
		...sources,
		network,
		builtIn,
		catalog: settings.models.catalog,
		only: providers,
	});
	if (options.json) {
		await printJson(io, { file: report.isSaved ? list.file.path : null, ...report });
	} else {
		const rows = report.providers.map((provider) => [provider.provider, describeReport(provider)]);
		await printLines(io, tableLines([...rows, [new URL(settings.models.catalog).host, describeCatalog(report)]]));
	}
	const asked = report.providers.filter(({ state }) => state !== "not_asked");
	const hasAnswer = asked.length > 0 ? asked.some(({ state }) => state === "updated") : report.catalog !== null;
	return hasAnswer ? 0 : 1;
}
