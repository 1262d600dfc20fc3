import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parseArgs } from "../../src/cli/args.js";
import { loadModelsFile } from "../../src/models/models-file.js";
import { splitArgs } from "../../src/util/split-args.js";
import { isObject, parseJson } from "../helpers/json.js";
import { startSession } from "../helpers/session.js";
import { tempAgentDir } from "../helpers/temp.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(join(root, "README.md"), "utf8");

/** Contents of all code blocks of a language on the page. */
function blocks(language: string): string[] {
	return [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].flatMap(([, name, code = ""]) =>
		name === language ? [code] : [],
	);
}

test("the first hook adds its reminder to every request while it is loaded", async () => {
	const [hook = ""] = blocks("ts");
	const { session, provider, sent } = await startSession({ hooks: { "remind.ts": hook } });
	provider.reply("Hello.", "Noted.");
	await session.prompt("hi");
	expect(await session.prompt("/remind Prices are whole cents.")).toMatchObject({
		status: "Sent with every request: Prices are whole cents.",
	});
	await session.prompt("and now?");
	expect(sent(1)).toEqual(["user: hi"]);
	expect(sent(2)).toEqual(["user: Prices are whole cents.", "user: hi", "assistant: Hello.", "user: and now?"]);
});

test("every pi command on the page has valid options", () => {
	const lines = blocks("sh").flatMap((block) => block.trimEnd().split("\n"));
	const commands = lines.flatMap((line) => /(?:^|\| )pi (.*?)(?: > .*)?$/.exec(line)?.[1] ?? []);
	const starts = lines.flatMap((line) => /^npm start -- (.*)$/.exec(line)?.[1] ?? []);
	expect(commands.length).toBeGreaterThan(5);
	expect(starts).toEqual(["--demo", "--demo --hook remind.ts"]);
	for (const command of [...commands, ...starts]) expect(parseArgs(splitArgs(command)).kind).not.toBe("help");
});

test("every npm script on the page exists", () => {
	const manifest = parseJson(readFileSync(join(root, "package.json"), "utf8"));
	const scripts = isObject(manifest) && isObject(manifest.scripts) ? Object.keys(manifest.scripts) : [];
	const named = [...page.matchAll(/npm (?:run ([\w:]+)|(start|test)\b)/g)].map(([, run, plain]) => run ?? plain);
	expect([...new Set(named)].filter((name) => !scripts.includes(name ?? ""))).toEqual([]);
});

test("every linked file exists", () => {
	const targets = [...page.matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, target = ""]) => target);
	expect(targets.filter((target) => !existsSync(join(root, target)))).toEqual([]);
});

test("the models.json example is valid", () => {
	const agentDir = tempAgentDir({ files: { "models.json": blocks("json")[0] } });
	const file = loadModelsFile(join(agentDir, "models.json"));
	expect(file.warnings).toEqual([]);
	expect(file.providers.map(({ name, models }) => [name, models?.map(({ id }) => id)])).toEqual([
		["lab", ["qwen3-coder"]],
	]);
});
