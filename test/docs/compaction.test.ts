import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { paths } from "../../src/config/paths.js";
import { SettingsStore } from "../../src/config/settings-store.js";
import { decodeLine } from "../../src/log/codec.js";
import { tempAgentDir, tempDir } from "../helpers/temp.js";

const page = readFileSync(new URL("../../docs/compaction.md", import.meta.url), "utf8");
const [settings = "", entry = ""] = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, code = ""]) => code);

test("the settings of the page are accepted", () => {
	const env = { PI_CODING_AGENT_DIR: tempAgentDir({ settings: JSON.parse(settings) }) };
	const store = new SettingsStore(paths({ ...process.env, ...env }, tempDir(), tempDir()));
	expect(store.problems).toEqual([]);
	expect(store.current.compaction).toEqual(JSON.parse(settings).compaction);
});

test("the entry of the page is read as it stands", () => {
	const value = JSON.parse(entry);
	expect(decodeLine(JSON.stringify(value))).toEqual(value);
});
